/** ES modules throughout: run through `scripts/jest.ts`, which sets the flag that jest needs for them. */
const shared = {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/scripts/strip-types.mjs' },
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/grafana-plugin/', '<rootDir>/dist/', '<rootDir>/.cache/'],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.cache/', '<rootDir>/grafana-plugin/'],
};

export default {
  projects: [
    { ...shared, displayName: 'unit', testMatch: ['**/*.test.ts'] },
    { ...shared, displayName: 'integration', testMatch: ['**/*.itest.ts'] },
  ],
};
