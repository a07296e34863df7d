/** Checks of the built `dist/`: run after `npm run build`. */
const base = require('./jest.config');

module.exports = {
  transform: base.transform,
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/dist/**/*.test.ts'],
};
