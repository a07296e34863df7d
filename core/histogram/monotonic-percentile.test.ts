import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { quantileBounds } from './bounds.ts';
import { bucketOfEstimate } from './bucket-of-estimate.ts';
import { monotonicPercentile } from './monotonic-percentile.ts';
import { histogramQuantile } from './quantile.ts';

function percentile(q: number, bounds: readonly number[], counts: ArrayLike<number>) {
  const found = { estimate: NaN, low: NaN, high: NaN, overflow: false };
  monotonicPercentile(q, bounds, counts, found);
  return found;
}

describe('monotonicPercentile', () => {
  // 1, 2 | 3, 3.5 | 6 | 20 on the bounds 2, 5, 10: by hand as for `quantileBounds`.
  test.each([
    // values 1 and 2; rank 0.6 of 2 in (0, 2]
    [0.1, 0.6, 0, 2],
    // values 2 and 3; rank 1.8 in (0, 2]
    [0.3, 1.8, 0, 5],
    // values 3 and 4; rank 3 in (2, 5], half of it
    [0.5, 3.5, 2, 5],
    // values 5 and 6; rank 5.4 in the overflow bucket
    [0.9, 10, 5, Infinity],
  ])('q %p: %p in (%p, %p]', (q, estimate, low, high) => {
    const found = percentile(q, [2, 5, 10, Infinity], [2, 4, 5, 6]);
    expect(found.estimate).toBeCloseTo(estimate, 12);
    expect(found).toMatchObject({ low, high, overflow: high === Infinity });
  });

  test('is what histogramQuantile, quantileBounds and bucketOfEstimate say', () => {
    const increments = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 2, maxLength: 12 });
    const quantile = fc.oneof(fc.constantFrom(0, 0.5, 0.99, 1), fc.double({ min: 0, max: 1, noNaN: true }));
    fc.assert(
      fc.property(increments, quantile, fc.integer({ min: -2, max: 1 }), (steps, q, first) => {
        let total = 0;
        const counts = steps.map((step) => (total += step));
        fc.pre(total > 0);
        const bounds = steps.map((_, i) => (i === steps.length - 1 ? Infinity : first + i / 4));
        const histogram = { bounds, counts, sum: null };
        const { low, high } = quantileBounds(q, histogram) ?? { low: NaN, high: NaN };
        expect(percentile(q, bounds, Float64Array.from(counts))).toEqual({
          estimate: histogramQuantile(q, histogram),
          low,
          high,
          overflow: bucketOfEstimate(q, histogram)?.overflow ?? false,
        });
      }),
      { numRuns: 3000 },
    );
  });
});
