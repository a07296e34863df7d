import { describe, expect, test } from '@jest/globals';
import { percentile, PERCENTILE_NAMES, PERCENTILES } from './percentiles.ts';

describe('percentile', () => {
  // numpy 2.4.6: np.percentile([3.1,0.2,15.7,4.4,4.4,9.03,0.75,2.2,8.8,1.6], [1,5,10,25,50,75,90,95,99,99.9])
  const sorted = [0.2, 0.75, 1.6, 2.2, 3.1, 4.4, 4.4, 8.8, 9.03, 15.7];
  const expected = {
    p1: 0.2495,
    p5: 0.4475,
    p10: 0.695,
    p25: 1.75,
    p50: 3.75,
    p75: 7.7,
    p90: 9.697,
    p95: 12.6985,
    p99: 15.0997,
    p99_9: 15.63997,
  };
  test.each(PERCENTILE_NAMES)('%s as numpy', (name) => {
    expect(percentile(sorted, PERCENTILES[name])).toBeCloseTo(expected[name], 12);
    expect(percentile(Float64Array.from(sorted), PERCENTILES[name])).toBe(percentile(sorted, PERCENTILES[name]));
  });

  // numpy 2.4.6: np.percentile([0.1, 0.2, 0.7], [10, 30, 60, 95])
  test.each([
    [0.1, 0.12000000000000001],
    [0.3, 0.16],
    [0.6, 0.3],
    [0.95, 0.6499999999999999],
  ])('rounds as numpy at %p', (q, value) => {
    expect(percentile([0.1, 0.2, 0.7], q)).toBe(value);
  });

  test('has the extremes at 0 and 1', () => {
    expect(percentile([3, 4, 9], 0)).toBe(3);
    expect(percentile([3, 4, 9], 1)).toBe(9);
    expect(percentile([3], 0.99)).toBe(3);
  });

  test('takes +Infinity for a value', () => {
    expect(percentile([1, 2, Infinity], 0.5)).toBe(2);
    expect(percentile([1, 2, Infinity], 0.51)).toBe(Infinity);
    expect(percentile([1, Infinity, Infinity], 0.75)).toBe(Infinity);
  });

  test('of nothing is NaN; a wrong q is refused', () => {
    expect(percentile([], 0.5)).toBeNaN();
    expect(() => percentile([1], 50)).toThrow(RangeError);
    expect(() => percentile([1], NaN)).toThrow('quantile NaN is not within 0 to 1');
  });
});
