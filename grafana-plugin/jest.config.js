// Dates are formatted the same on every machine.
process.env.TZ = 'UTC';

const base = require('./.config/jest.config');
const { grafanaESModules, nodeModulesToTransform } = require('./.config/jest/utils');

const [swc] = Object.values(base.transform);

module.exports = {
  ...base,
  // d3's newest packages ship `.mjs`, which the scaffold's pattern leaves out.
  transform: { '^.+\\.m?[tj]sx?$': swc },
  transformIgnorePatterns: [nodeModulesToTransform(grafanaESModules)],
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/dist/', '<rootDir>/e2e/'],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/host/'],
};
