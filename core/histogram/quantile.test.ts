import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { quantileBounds, bucketOfEstimate } from './bounds.ts';
import type { ClassicHistogram } from './classic-histogram.ts';
import { histogramQuantile, monotonic, monotonicPercentile } from './quantile.ts';

describe('quantile', () => {
  function h(...buckets: [bound: number, count: number][]): ClassicHistogram {
    return { bounds: buckets.map(([bound]) => bound), counts: buckets.map(([, count]) => count), sum: null };
  }
  const plain = h([1, 4], [2, 10], [5, 20], [Infinity, 25]);

  describe('histogramQuantile by hand', () => {
    test.each<[name: string, q: number, h: ClassicHistogram, expected: number]>([
      ['q NaN', NaN, plain, NaN],
      ['q below 0', -0.1, plain, -Infinity],
      ['q -Infinity', -Infinity, plain, -Infinity],
      ['q above 1', 1.01, plain, Infinity],
      ['q above 1 of an empty histogram', 2, h([1, 0], [Infinity, 0]), Infinity],
      ['no +Inf bucket', 0.5, h([1, 4], [2, 10]), NaN],
      ['no bucket', 0.5, h(), NaN],
      ['only the +Inf bucket', 0.5, h([Infinity, 10]), NaN],
      ['no observations', 0.5, h([1, 0], [Infinity, 0]), NaN],
      // rank 0.4 * 25 = 10 is reached by the bucket of 2: 1 + (2 - 1) * (10 - 4) / 6
      ['rank on a bound', 0.4, plain, 2],
      // rank 15: 2 + (5 - 2) * (15 - 10) / 10
      ['rank inside a bucket', 0.6, plain, 3.5],
      // rank 2: 0 + 1 * 2 / 4
      ['rank in the first bucket, bound > 0', 0.08, plain, 0.5],
      // rank 0: 0 + 1 * 0 / 4
      ['q 0', 0, plain, 0],
      // rank 0 is reached by the empty first bucket: 0 / 0
      ['q 0, first bucket empty', 0, h([1, 0], [2, 3], [Infinity, 3]), NaN],
      // rank 22.5 lies beyond 20: the largest finite bound
      ['rank in the +Inf bucket', 0.9, plain, 5],
      ['q 1', 1, plain, 5],
      // rank 10: 2 + (5 - 2) * (10 - 4) / 6
      ['q 1, nothing in the +Inf bucket', 1, h([2, 4], [5, 10], [Infinity, 10]), 5],
      ['first bound 0', 0.1, h([0, 5], [1, 10], [Infinity, 10]), 0],
      ['first bound negative', 0.1, h([-2, 5], [1, 10], [Infinity, 10]), -2],
      ['q 0, first bound negative and empty', 0, h([-2, 0], [1, 10], [Infinity, 10]), -2],
      // rank 7.5: -2 + (1 - -2) * (7.5 - 5) / 5
      ['bucket across 0', 0.75, h([-2, 5], [1, 10], [Infinity, 10]), -0.5],
      // empty middle bucket is passed: rank 6 of 10: 3 + (4 - 3) * (6 - 5) / 5
      ['empty bucket', 0.6, h([1, 5], [3, 5], [4, 10], [Infinity, 10]), 3.2],
      // counts added: 1 -> 2 + 3 = 5 of 10; rank 2.5: 0 + 1 * 2.5 / 5
      ['same bound twice', 0.25, h([1, 2], [1, 3], [Infinity, 10]), 0.5],
      // two +Inf buckets become one, total 4 + 6; rank 5: 1 + (2 - 1) * (5 - 4) / 4
      ['+Inf twice', 0.5, h([1, 4], [2, 8], [Infinity, 4], [Infinity, 6]), 1.25],
      // sorted first: rank 5: 1 + (2 - 1) * (5 - 4) / 2
      ['not in order', 0.5, h([Infinity, 10], [2, 6], [1, 4]), 1.5],
      // 5 is raised to 7, bucket (1, 2] is empty; rank 8: 2 + (3 - 2) * (8 - 7) / 2
      ['counts go down', 0.8, h([1, 7], [2, 5], [3, 9], [Infinity, 10]), 2.5],
      // total raised from 8 to 10; rank 9: 1 + (2 - 1) * (9 - 8) / 2
      ['+Inf bucket below its predecessor', 0.9, h([1, 8], [2, 10], [Infinity, 8]), 1.5],
      // 10 - 1e-12 is 10: bucket (1, 2] is empty; rank 12: 2 + (3 - 2) * (12 - 10) / 10
      ['dip of rounding noise', 0.6, h([1, 10], [2, 10 - 1e-12], [3, 20], [Infinity, 20]), 2.2],
      ['infinite total', 0.5, h([1, 4], [Infinity, Infinity]), 1],
      // all in the first bucket, however small they were: 0 + 0.001 * 0.5
      ['all observations at once', 0.5, h([0.001, 8], [1, 8], [Infinity, 8]), 0.0005],
    ])('%s', (_name, q, histogram, expected) => {
      expect(histogramQuantile(q, histogram)).toBe(expected);
    });
  });

  // Computed by BucketQuantile of prometheus/prometheus @ d15adb9 (promql/quantile.go), compiled with Go 1.26.
  describe('histogramQuantile as Prometheus to the last digit', () => {
    const rate = h([0.1, 3.3], [0.25, 7.9], [1, 12.4], [Infinity, 13.7]);
    const scrape = h([0.005, 11], [0.01, 26], [0.025, 71], [0.05, 137], [0.1, 211], [Infinity, 250]);
    test.each<[q: number, h: ClassicHistogram, expected: number]>([
      [0.5, rate, 0.21576086956521737],
      [0.9, rate, 0.9883333333333333],
      [0.021, scrape, 0.0023863636363636366],
      [0.07, scrape, 0.007166666666666667],
      [0.33, scrape, 0.029356060606060608],
      [0.99, scrape, 0.1],
      [0.3, h([-1, 4], [0, 6], [2.5, 10], [Infinity, 10]), -1],
      [0.6, h([1, 7], [2, 5], [3, 9], [Infinity, 10]), 0.8571428571428571],
      [0.4, h([1, 10], [2, 9.999999999999], [3, 20], [Infinity, 20]), 0.8],
    ])('q %p of %j', (q, histogram, expected) => {
      expect(histogramQuantile(q, histogram)).toBe(expected);
    });
  });

  test('does not change its input', () => {
    const input = h([2, 6], [1, 7], [Infinity, 5]);
    histogramQuantile(0.5, input);
    expect(input).toEqual(h([2, 6], [1, 7], [Infinity, 5]));
  });
});

describe('monotonic', () => {
  const h = (...counts: number[]) => ({ bounds: [1, 2, 3, Infinity].slice(4 - counts.length), counts, sum: null });

  describe('monotonic', () => {
    test('returns counts that never go down as they are', () => {
      const input = h(1, 1, 5, 9);
      expect(monotonic(input)).toEqual({ histogram: input, forced: false });
      expect(monotonic(input).histogram).toBe(input);
    });

    test('raises a count to the running maximum and reports it', () => {
      const { histogram, forced } = monotonic(h(7, 5, 9, 8));
      expect(histogram.counts).toEqual([7, 7, 9, 9]);
      expect(forced).toBe(true);
    });

    // Prometheus: |a - b| / (|a| + |b|) < 1e-12 is noise. 1e-12 / 20 = 5e-14 is; 1e-9 / 20 = 5e-11 is not.
    test('repairs rounding noise in either direction without a mark', () => {
      expect(monotonic(h(10, 10 - 1e-12, 20))).toMatchObject({ histogram: { counts: [10, 10, 20] }, forced: false });
      expect(monotonic(h(10, 10 + 1e-12, 20))).toMatchObject({ histogram: { counts: [10, 10, 20] }, forced: false });
      expect(monotonic(h(10, 10 - 1e-9, 20)).forced).toBe(true);
      expect(monotonic(h(10, 10 + 1e-9, 20)).histogram.counts[1]).toBe(10 + 1e-9);
    });

    test('with tolerance 0 keeps every rise and forces every dip', () => {
      expect(monotonic(h(10, 10 + 1e-12, 20), 0).histogram.counts[1]).toBe(10 + 1e-12);
      expect(monotonic(h(10, 10 - 1e-12, 20), 0)).toMatchObject({ histogram: { counts: [10, 10, 20] }, forced: true });
    });

    test('does not change its input', () => {
      const input = h(7, 5, 9, 8);
      monotonic(input);
      expect(input.counts).toEqual([7, 5, 9, 8]);
    });
  });
});

describe('monotonic percentile', () => {
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
});
