import { expect, test } from '@jest/globals';

import { WindowedSummary } from './family.ts';

test('quantiles are those of the last minute, count and sum of all time', () => {
  let now_s = 0;
  const summary = new WindowedSummary(() => now_s);
  expect(summary.quantileValues()).toEqual([NaN, NaN, NaN, NaN, NaN]);
  for (let value = 1; value <= 100; value++) summary.observe(value);
  // Of 1 to 100: half are 50 or less, 99 in a hundred 99 or less, and 999 in a thousand only with the last.
  expect(summary.quantileValues()).toEqual([50, 90, 95, 99, 100]);
  now_s = 30;
  summary.observe(7);
  now_s = 61;
  expect(summary.quantileValues()).toEqual([7, 7, 7, 7, 7]);
  now_s = 91;
  expect(summary.quantileValues()).toEqual([NaN, NaN, NaN, NaN, NaN]);
  expect([summary.count, summary.sum]).toEqual([101, 5057]);
});
