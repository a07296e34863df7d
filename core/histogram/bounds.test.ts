import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { quantileBounds, fractionBelow, bucketOfEstimate } from './bounds.ts';
import type { ClassicHistogram } from './classic-histogram.ts';
import { histogramQuantile } from './quantile.ts';

/** The histogram of values on a grid, by the definition of its buckets. */
function observe(values: readonly number[], finite: readonly number[]): ClassicHistogram {
  const bounds = [...finite, Infinity];
  return {
    bounds,
    counts: bounds.map((bound) => values.filter((value) => value <= bound).length),
    sum: values.reduce((sum, value) => sum + value, 0),
  };
}

/** numpy's default percentile, by its formula. */
function linear(sorted: readonly number[], q: number): number {
  const rank = (sorted.length - 1) * q;
  const below = sorted[Math.floor(rank)] ?? NaN;
  const above = sorted[Math.ceil(rank)] ?? NaN;
  return below + (above - below) * (rank - Math.floor(rank));
}

/** Inverse of the empirical distribution function: the smallest value that at least q * n values do not exceed. */
function inverse(sorted: readonly number[], q: number): number {
  return sorted.find((_value, i) => i + 1 >= q * sorted.length) ?? NaN;
}

const isWithin = (value: number, { low, high }: { low: number; high: number }): boolean =>
  low <= value && value <= high;
const ascending = (a: number, b: number): number => a - b;
const integers = fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 40 });
const fractions = fc.array(fc.double({ min: 0, max: 60, noNaN: true }), { minLength: 1, maxLength: 40 });
const grid = fc
  .uniqueArray(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 8 })
  .map((b) => b.sort(ascending));
const quantile = fc.oneof(
  fc.constantFrom(0, 0.01, 0.05, 0.07, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1),
  fc.double({ min: 0, max: 1, noNaN: true }),
);

describe('quantileBounds of the buckets', () => {
  // 1, 2 | 3, 3.5 | 6 | 20: the buckets hold 2, 2, 1 and 1 values; n = 6
  const six = observe([1, 2, 3, 3.5, 6, 20], [2, 5, 10]);
  test.each<[q: number, low: number, high: number]>([
    // k = 0.5: values 1 and 2, both in (0, 2]; Prometheus' rank 0.6 too
    [0.1, 0, 2],
    // k = 1.5: values 2 and 3; rank 1.8 in (0, 2]
    [0.3, 0, 5],
    // k = 2.5: values 3 and 4; rank 3 in (2, 5]
    [0.5, 2, 5],
    // k = 4: value 5 alone in (5, 10]; rank 4.8 there
    [0.8, 5, 10],
    // k = 4.5: values 5 and 6
    [0.9, 5, Infinity],
    [1, 10, Infinity],
    [0, 0, 2],
  ])('q %p: (%p, %p]', (q, low, high) => {
    const flags = { overflow: high === Infinity, narrowedBySum: false, infeasibleSum: false };
    expect(quantileBounds(q, six)).toEqual({ low, high, ...flags });
  });

  test('starts at -Infinity when the first bound is not above 0', () => {
    expect(quantileBounds(0.5, observe([-3, -3, 1], [0, 2]))).toMatchObject({ low: -Infinity, high: 0 });
  });

  test('has only the overflow bucket', () => {
    expect(quantileBounds(0.5, observe([1, 2], []))).toMatchObject({ low: 0, high: Infinity, overflow: true });
  });

  test.each<[name: string, q: number, h: ClassicHistogram]>([
    ['no observations', 0.5, observe([], [1])],
    ['NaN total', 0.5, { bounds: [1, Infinity], counts: [1, NaN], sum: null }],
    ['NaN in a bucket', 0.5, { bounds: [1, Infinity], counts: [NaN, 3], sum: null }],
    ['no +Inf bucket', 0.5, { bounds: [1, 2], counts: [1, 2], sum: null }],
    ['no bucket', 0.5, { bounds: [], counts: [], sum: null }],
    ['q NaN', NaN, observe([1], [1])],
    ['q above 1', 1.5, observe([1], [1])],
  ])('is null: %s', (_name, q, h) => {
    expect(quantileBounds(q, h)).toBeNull();
  });

  test('hold both exact percentiles and the estimate', () => {
    fc.assert(
      fc.property(fc.oneof(integers, fractions), grid, quantile, (values, finite, q) => {
        const sorted = [...values].sort(ascending);
        const h = observe(values, finite);
        const { low, high } = quantileBounds(q, h) ?? { low: NaN, high: NaN };
        const exact = [linear(sorted, q), inverse(sorted, q)];
        // (low, high], except that the first bucket holds 0 as well
        const isHeld = (value: number): boolean => value <= high && (value > low || (low === 0 && value === 0));
        expect(exact.filter((value) => !isHeld(value))).toEqual([]);
        const estimate = histogramQuantile(q, h);
        // q = 0 has no estimate when the first bucket is empty
        if (q === 0 && h.counts[0] === 0) expect(estimate).toBeNaN();
        else {
          expect(estimate).toBeGreaterThanOrEqual(low);
          expect(estimate).toBeLessThanOrEqual(high * (1 + 1e-12));
        }
      }),
      { numRuns: 3000 },
    );
  });
});

describe('quantileBounds with the sum', () => {
  test('narrows the upper end', () => {
    // Buckets (0, 10] with 3 and (10, +Inf) with 1 value; sum 16. q = 1 is value 4, rank 1 in the overflow bucket:
    // at most 16 - 3 * 0 = 16, at least 16 - 3 * 10 = -14 (says nothing).
    const bounds = quantileBounds(1, { bounds: [10, Infinity], counts: [3, 4], sum: 16 }, { useSum: true });
    expect(bounds).toMatchObject({ low: 10, overflow: false, narrowedBySum: true, infeasibleSum: false });
    expect(bounds?.high).toBeCloseTo(16, 6);
  });

  test('narrows the lower end', () => {
    // Four values in (0, 10] with sum 38. q = 0 is rank 1: at least 38 - 3 * 10 = 8, at most 38 / 4 = 9.5.
    const bounds = quantileBounds(0, { bounds: [10, Infinity], counts: [4, 4], sum: 38 }, { useSum: true });
    expect(bounds?.low).toBeCloseTo(8, 6);
    expect(bounds?.high).toBeCloseTo(9.5, 6);
  });

  test('takes the other buckets into account', () => {
    // (0, 1] 2, (1, 4] 3, (4, 8] 1 value; sum 20; q = 0.5, k = 2.5: value 3 (rank 1 in (1, 4]) and 4 (rank 2).
    // low: (20 - 2 * 1 - 1 * 8 - 2 * 4) / 1 = 2; high: (20 - 0 - 4 - 1 * 1) / 2 = 7.5, so the bucket's 4 stays.
    const bounds = quantileBounds(
      0.5,
      { bounds: [1, 4, 8, Infinity], counts: [2, 5, 6, 6], sum: 20 },
      { useSum: true },
    );
    expect(bounds?.low).toBeCloseTo(2, 6);
    expect(bounds?.high).toBe(4);
  });

  test('raises "> edge" to what the largest value must be', () => {
    // 2 values in (0, 10], 1 beyond; sum 100: the largest is at least 100 - 20 = 80 and at most 100.
    const bounds = quantileBounds(1, { bounds: [10, Infinity], counts: [2, 3], sum: 100 }, { useSum: true });
    expect(bounds?.low).toBeCloseTo(80, 6);
    expect(bounds?.high).toBeCloseTo(100, 6);
  });

  const h = { bounds: [10, Infinity], counts: [4, 4], sum: 38 };
  const plain = { low: 0, high: 10, overflow: false, narrowedBySum: false };
  test.each<[name: string, h: ClassicHistogram, infeasible: boolean]>([
    ['more than all upper edges', { ...h, sum: 41 }, true],
    ['negative', { ...h, sum: -1 }, true],
    ['unknown', { ...h, sum: null }, false],
    ['NaN', { ...h, sum: NaN }, false],
    ['counts that go down', { ...h, bounds: [10, 20, Infinity], counts: [4, 3, 4] }, false],
  ])('is not used: %s', (_name, histogram, infeasibleSum) => {
    expect(quantileBounds(0, histogram, { useSum: true })).toEqual({ ...plain, infeasibleSum });
  });

  test('is infeasible below all lower edges', () => {
    // 4 values above 10 cannot sum to 39
    const below = { bounds: [10, 20, Infinity], counts: [0, 4, 4], sum: 39 };
    expect(quantileBounds(0.5, below, { useSum: true })).toMatchObject({ low: 10, high: 20, infeasibleSum: true });
  });

  test('is not used where values may be negative', () => {
    const bounds = quantileBounds(1, observe([-5, 3], [0, 10]), { useSum: true });
    expect(bounds).toMatchObject({ low: 0, high: 10, narrowedBySum: false });
  });

  test.each<[name: string, h: ClassicHistogram]>([
    // Of a page of Ray 2.60: each of the 61 requests of 0.0685 s on average was recorded as 0.15 s.
    ['one bucket', { bounds: [0.3, 0.5, Infinity], counts: [61, 61, 61], sum: 9.150000000000011 }],
    ['several, and beyond the last bound', { bounds: [1, 3, Infinity], counts: [2, 5, 6], sum: 2 * 0.5 + 3 * 2 + 6 }],
  ])('is not used if it is that of the middles of the buckets: %s', (_name, histogram) => {
    for (const q of [0, 0.5, 1]) {
      expect(quantileBounds(q, histogram, { useSum: true })).toEqual(quantileBounds(q, histogram));
    }
  });

  test('is used only on request', () => {
    expect(quantileBounds(0, h)).toEqual({ ...plain, infeasibleSum: false });
  });

  test('never excludes the truth, and never widens', () => {
    fc.assert(
      fc.property(fc.oneof(integers, fractions), grid, quantile, (values, finite, q) => {
        const sorted = [...values].sort(ascending);
        const h = observe(values, finite);
        const narrow = quantileBounds(q, h, { useSum: true });
        const wide = quantileBounds(q, h);
        if (narrow === null || wide === null) throw new Error('no bounds');
        const isHeld = [linear(sorted, q), inverse(sorted, q)].every((exact) => isWithin(exact, narrow));
        return isHeld && !narrow.infeasibleSum && isWithin(narrow.low, wide) && isWithin(narrow.high, wide);
      }),
      { numRuns: 3000 },
    );
  });

  test('never excludes the truth where bounds are below 0 and the values above the first of them', () => {
    const bound = fc.oneof(fc.integer({ min: -1000, max: 1000 }), fc.double({ min: -1e6, max: 1e6, noNaN: true }));
    const bounds = fc.uniqueArray(bound, { minLength: 2, maxLength: 6 }).map((all) => all.toSorted(ascending));
    const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(bounds, fc.integer({ min: -1000, max: 0 }), shares, quantile, (above, first, places, q) => {
        const finite = [first, ...above.filter((each) => each > first)];
        const top = Math.max(...finite) + 1;
        const values = places.map((share) => first + Math.max(1e-9, share * (top - first))).sort(ascending);
        const narrow = quantileBounds(q, observe(values, finite), { useSum: true });
        if (narrow === null) throw new Error('no bounds');
        return !narrow.infeasibleSum && isWithin(linear(values, q), narrow);
      }),
      { numRuns: 3000 },
    );
  });

  test.each([
    ['of which one is 0 on average', [-1, 1, Infinity], [0, 2, 2], [-0.5, 0.5]],
    ['that lie at their bounds', [-3, -1, Infinity], [0, 3, 3], [-1, -1, -1]],
    ['below 0 and far above', [-1e6, -1, 1e6, Infinity], [0, 2, 3, 3], [-5e5, -5e5, 1e6]],
  ])('contains values %s', (_name, bounds, counts, values) => {
    const sum = values.reduce((a, b) => a + b, 0);
    for (const [q, value] of [
      [0, values[0]],
      [1, values.at(-1)],
    ] as const) {
      const { low = NaN, high = NaN } = quantileBounds(q, { bounds, counts, sum }, { useSum: true }) ?? {};
      expect(low).toBeLessThanOrEqual(value ?? NaN);
      expect(high).toBeGreaterThanOrEqual(value ?? NaN);
    }
  });

  test('grants the rounding of a running sum', () => {
    // A server that has summed 10,000 s before: the difference of its sums carries their rounding.
    const start = 1e4;
    let end = start;
    for (let i = 0; i < 10; i++) end += 0.1;
    const sum = end - start;
    expect(sum).not.toBe(1);
    const bounds = quantileBounds(0.5, { bounds: [0.1, Infinity], counts: [10, 10], sum }, { useSum: true });
    expect(bounds?.infeasibleSum).toBe(false);
    expect(bounds?.low).toBeLessThanOrEqual(0.1);
    expect(bounds?.high).toBeGreaterThanOrEqual(0.1);
  });
});

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
