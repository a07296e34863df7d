import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fractionBelow } from './fraction.ts';

describe('fractionBelow', () => {
  const h = { bounds: [1, 2, 4, Infinity], counts: [4, 10, 16, 20], sum: null };
  test.each([
    ['a bound', 2, { low: 0.5, estimate: 0.5, high: 0.5 }],
    // (10 + 6 * (3 - 2) / 2) / 20
    ['inside a bucket', 3, { low: 0.5, estimate: 0.65, high: 0.8 }],
    // 4 * 0.5 / 20
    ['inside the first bucket', 0.5, { low: 0, estimate: 0.1, high: 0.2 }],
    // observations of exactly 0 lie in the first bucket
    ['0', 0, { low: 0, estimate: 0, high: 0.2 }],
    ['below 0', -1, { low: 0, estimate: 0, high: 0 }],
    ['in the overflow bucket', 5, { low: 0.8, estimate: 0.8, high: 1 }],
    ['+Infinity', Infinity, { low: 1, estimate: 1, high: 1 }],
    ['-Infinity', -Infinity, { low: 0, estimate: 0, high: 0 }],
  ])('at x = %s', (_name, x, expected) => {
    expect(fractionBelow(x, h)).toEqual(expected);
  });

  test('does not interpolate down to -Infinity: the whole first bucket, as Prometheus', () => {
    const negative = { bounds: [-1, 1, Infinity], counts: [2, 4, 4], sum: null };
    expect(fractionBelow(-3, negative)).toEqual({ low: 0, estimate: 0.5, high: 0.5 });
    // (2 + 2 * (0 - -1) / 2) / 4
    expect(fractionBelow(0, negative)).toEqual({ low: 0.5, estimate: 0.75, high: 1 });
  });

  test('repairs counts that go down for low and high, not for the estimate', () => {
    const dip = { bounds: [1, 2, 3, Infinity], counts: [6, 4, 8, 10], sum: null };
    expect(fractionBelow(2, dip)).toEqual({ low: 0.6, estimate: 0.4, high: 0.6 });
  });

  test.each([
    ['x NaN', NaN, h],
    ['no observations', 1, { bounds: [1, Infinity], counts: [0, 0], sum: null }],
    ['no +Inf bucket', 1, { bounds: [1], counts: [3], sum: null }],
    ['a count NaN', 1, { bounds: [1, Infinity], counts: [NaN, 3], sum: null }],
  ])('is null: %s', (_name, x, histogram) => {
    expect(fractionBelow(x, histogram)).toBeNull();
  });

  // Computed by BucketFraction of prometheus/prometheus @ d15adb9 (promql/quantile.go), compiled with Go 1.26.
  test.each([
    [0.5, { bounds: [0.1, 0.25, 1, Infinity], counts: [3.3, 7.9, 12.4, 13.7], sum: null }, 0.6861313868613139],
    [0.9, { bounds: [0.1, 0.25, 1, Infinity], counts: [3.3, 7.9, 12.4, 13.7], sum: null }, 0.8613138686131387],
    [0.6, { bounds: [1, 2, 3, Infinity], counts: [7, 5, 9, 10], sum: null }, 0.42000000000000004],
  ])('estimates like Prometheus to the last digit: %p', (x, histogram, expected) => {
    expect(fractionBelow(x, histogram)?.estimate).toBe(expected);
  });

  test('low and high hold the true share', () => {
    const values = fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 30 });
    const grid = fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(values, grid, fc.integer({ min: -2, max: 32 }), (observed, finite, x) => {
        const share = (limit: number): number => observed.filter((value) => value <= limit).length;
        const bounds = [...finite.sort((a, b) => a - b), Infinity];
        const result = fractionBelow(x, { bounds, counts: bounds.map(share), sum: null });
        const truth = share(x) / observed.length;
        expect(result?.low).toBeLessThanOrEqual(truth);
        expect(result?.high).toBeGreaterThanOrEqual(truth);
        if (bounds.includes(x)) expect(result?.low).toBe(result?.high);
      }),
    );
  });
});
