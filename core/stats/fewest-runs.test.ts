import { expect, test } from '@jest/globals';
import { fewestPairs, fewestRunsAgainst, fewestRunsPerSet } from './fewest-runs.ts';

// 2 ÷ 2^n pairs, 2 ÷ C(2n, n) runs of each set: the two extreme arrangements of all.
test.each([
  [1, 6, 4],
  [3, 7, 5],
  [5, 8, 5],
])('%d gating measures at 0.05: %d pairs, or %d runs of each set', (measures, pairs, runs) => {
  expect(fewestPairs(measures, 0.05)).toBe(pairs);
  expect(fewestRunsPerSet(measures, 0.05)).toBe(runs);
});

test('against a baseline of 20, two runs confirm for five measures: three with the one that raised the suspicion', () => {
  // 2 ÷ C(22, 2) = 0.0087, and 2 ÷ C(21, 1) = 0.095
  expect(fewestRunsAgainst(20, 5, 0.05)).toBe(2);
  // 2 ÷ C(9, 4) = 0.016 and 2 ÷ C(10, 5) = 0.0079
  expect(fewestRunsAgainst(5, 5, 0.05)).toBe(5);
});

test('no number of runs can be distinguished from a single one', () => {
  expect(fewestRunsAgainst(1, 100, 0.05)).toBeNull();
});
