/** ES modules throughout: run through `scripts/jest.ts`, which sets the flag that jest needs for them. */
const shared = {
  // Named, so that jest does not crawl the plugin's packages and what the tests unpack.
  roots: ['core', 'catalog', 'exporter', 'simulator', 'prometheus', 'dashboards', 'scripts', 'tests'].map(
    (folder) => `<rootDir>/${folder}`,
  ),
  testEnvironment: '<rootDir>/scripts/jest-environment.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^fast-check$': '<rootDir>/scripts/seeded-fast-check.mjs' },
  transform: { '\\.ts$': '<rootDir>/scripts/strip-types.mjs' },
};

export default {
  // By default jest leaves one core idle: half of a machine with two.
  maxWorkers: '100%',
  projects: [
    { ...shared, displayName: 'unit', testMatch: ['**/*.test.ts'] },
    { ...shared, displayName: 'integration', testMatch: ['**/*.itest.ts'] },
  ],
};
