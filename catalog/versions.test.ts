import { expect, test } from '@jest/globals';

import { compareVersions, isVersion, releasesBefore } from './versions.ts';

test.each([
  ['0.9.2', '0.10.0', -1],
  ['0.10.1', '0.10.1.1', -1],
  ['1.0', '1.0.0', 0],
  ['0.12.0', '0.11.2', 1],
  ['0.5.10.post1', '0.5.10', 0],
])('%s compared with %s', (a, b, sign) => {
  expect(Math.sign(compareVersions(a, b))).toBe(sign);
});

test.each([
  ['0.11.0', ['0.8.0', '0.9.2', '0.10.2', '0.10.1.1'], ['0.11.0', '0.11.1', '0.33.0', '1.0.0', '0.110.0']],
  ['0.9.2', ['0.9.0', '0.9.1', '0.8.5.post1', '0.9.1rc2'], ['0.9.2', '0.9.10', '0.10.0', '1.9.1']],
  ['0.24.0', ['0.0.1', '0.9.0', '0.19.3', '0.23.9'], ['0.24.0', '0.30.0', '2.0.0']],
  ['1.2', ['0.9.1', '1.1.1', '1.0.2'], ['1.2.0', '1.10.0', '11.0.0']],
  ['0.5.23', ['0.5.22', '0.4.10.post2', '0.5.6.post2'], ['0.5.23', '0.5.23.post1', '0.6.0']],
])('the releases before %s', (version, before, others) => {
  const pattern = new RegExp(`^(?:${releasesBefore(version)})$`);
  expect(before.filter((each) => !pattern.test(each))).toEqual([]);
  expect(others.filter((each) => pattern.test(each))).toEqual([]);
});

test('a date is no release', () => {
  expect(['0.8.0', '24.08', '1.3'].filter(isVersion)).toEqual(['0.8.0', '24.08', '1.3']);
  expect(['2026-01-20', '2025', 'after 2.51.0', undefined].filter(isVersion)).toEqual([]);
});
