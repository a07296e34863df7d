// Dates are formatted the same on every machine.
process.env.TZ = 'UTC';

/** Packages, also of Grafana's, that are published as ES modules only. */
const ES_MODULES = [
  '@grafana/schema',
  '@wojtekmaj/date-utils',
  'd3',
  'd3-color',
  'd3-force',
  'd3-interpolate',
  'd3-scale-chromatic',
  'get-user-locale',
  'marked',
  'memoize',
  'mimic-function',
  'ol',
  'react-calendar',
  'react-colorful',
  'rxjs',
  'uuid',
];

module.exports = {
  moduleNameMapper: { '\\.css$': 'identity-obj-proxy', 'react-inlinesvg': '<rootDir>/test/react-inlinesvg.tsx' },
  setupFilesAfterEnv: ['<rootDir>/jest-setup.js'],
  testEnvironment: 'jest-environment-jsdom',
  testMatch: ['<rootDir>/src/**/*.test.{ts,tsx}'],
  transform: {
    '^.+\\.m?[tj]sx?$': [
      '@swc/jest',
      { sourceMaps: 'inline', jsc: { parser: { syntax: 'typescript', tsx: true, dynamicImport: true } } },
    ],
  },
  transformIgnorePatterns: [`node_modules/(?!.*(${ES_MODULES.join('|')})/.*)`],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/host/'],
};
