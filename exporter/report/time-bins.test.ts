import { describe, expect, test } from '@jest/globals';
import { binOf, binPercentiles, binSeconds, timeBins } from './time-bins.ts';

describe('bins', () => {
  test.each([
    [1.2, 0, 0.1, 12],
    [20, 0, 0.5, 40],
    [100, 0, 1, 100],
    [3600, 0, 30, 120],
    // Wider if requested: the next named width.
    [20, 1.1, 2, 10],
    [604_800, 0, 7200, 84],
    [0, 0, 0.1, 1],
  ])('%f s, at least %f s each: of %f s, %i of them', (span, least, width, count) => {
    expect(timeBins(span, least)).toMatchObject({ widthSeconds: width, count });
  });

  test('the last bin takes the remainder', () => {
    const bins = timeBins(20.2);
    expect([bins.count, binSeconds(bins, 39), binOf(bins, 20.1)]).toEqual([40, expect.closeTo(0.7, 9), 39]);
    expect(binSeconds(timeBins(20.3), 40)).toBeCloseTo(0.3, 9);
  });
});

test('a percentile exists only for bins with enough values', () => {
  const at = Float64Array.from({ length: 12 }, (_, i) => (i < 11 ? 0.1 : 0.7));
  const values = Float64Array.from({ length: 12 }, (_, i) => i);
  const { p50, p90, p99 } = binPercentiles(timeBins(6), at, values);
  // 0 … 10: the median is 5, p90 9. The 12th stands alone. Then nothing.
  expect([p50[0], p50[1], p50[2]]).toEqual([5, 11, null]);
  expect([p90[0], p90[1]]).toEqual([9, null]);
  expect(p99[0]).toBeNull();
});
