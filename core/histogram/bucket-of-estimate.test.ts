import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bucketOfEstimate } from './bucket-of-estimate.ts';
import { histogramQuantile } from './quantile.ts';

describe('bucketOfEstimate', () => {
  // counts as rate() makes them: total 2.5
  const rate = { bounds: [0.1, 0.5, 1, Infinity], counts: [0.5, 0.5, 2, 2.5], sum: null };
  test.each([
    // rank 0.25
    [0.1, { low: 0, high: 0.1, overflow: false }],
    // rank 0.5 is reached by the first bucket
    [0.2, { low: 0, high: 0.1, overflow: false }],
    // rank 1.25: the empty (0.1, 0.5] is passed
    [0.5, { low: 0.5, high: 1, overflow: false }],
    // rank 2.25
    [0.9, { low: 1, high: Infinity, overflow: true }],
  ])('q %p', (q, expected) => {
    expect(bucketOfEstimate(q, rate)).toEqual(expected);
  });

  test('reaches down to -Infinity when the first bound is not above 0', () => {
    const h = { bounds: [0, 1, Infinity], counts: [2, 3, 3], sum: null };
    expect(bucketOfEstimate(0.5, h)).toEqual({ low: -Infinity, high: 0, overflow: false });
  });

  test.each([
    ['q outside', 1.1, { bounds: [1, Infinity], counts: [1, 1], sum: null }],
    ['no observations', 0.5, { bounds: [1, Infinity], counts: [0, 0], sum: null }],
    ['no +Inf bucket', 0.5, { bounds: [1, 2], counts: [1, 2], sum: null }],
    ['NaN total', 0.5, { bounds: [1, Infinity], counts: [1, NaN], sum: null }],
    ['q 0, first bucket empty', 0, { bounds: [1, 2, Infinity], counts: [0, 1, 1], sum: null }],
  ])('is null: %s', (_name, q, h) => {
    expect(bucketOfEstimate(q, h)).toBeNull();
  });

  test('holds the estimate, or ends below it only by rounding', () => {
    const increments = fc.array(fc.double({ min: 0, max: 5, noNaN: true }), { minLength: 2, maxLength: 10 });
    fc.assert(
      fc.property(increments, fc.double({ min: 0, max: 1, noNaN: true }), (perBucket, q) => {
        let sum = 0;
        const counts = perBucket.map((count) => (sum += count));
        const bounds = counts.map((_count, i) => (i === counts.length - 1 ? Infinity : 2 ** i));
        const h = { bounds, counts, sum: null };
        const bucket = bucketOfEstimate(q, h);
        const estimate = histogramQuantile(q, h);
        if (bucket === null) expect(estimate).toBeNaN();
        else {
          expect(estimate).toBeGreaterThanOrEqual(bucket.low * (1 - 1e-12));
          expect(estimate).toBeLessThanOrEqual(bucket.high * (1 + 1e-12));
        }
      }),
      { numRuns: 1000 },
    );
  });
});
