import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bucketAdvice, familyAdvice, hasWholeValues, type ObservedSeries } from './bucket-advice.ts';
import type { ClassicHistogram } from './classic-histogram.ts';
import { rankBucket } from './quantile.ts';

const TRUE_COUNTS = { exact: true, whole: false };

/** The histogram of values on a grid, by the definition of its buckets. */
function observe(values: readonly number[], finite: readonly number[]): ClassicHistogram {
  const bounds = [...finite, Infinity];
  return { bounds, counts: bounds.map((bound) => values.filter((value) => value <= bound).length), sum: null };
}

/** 100 values: 60 in (0.1, 0.2], 35 in (0.2, 0.4], 5 in (0.4, 0.8]. */
const hundred: ClassicHistogram = { bounds: [0.1, 0.2, 0.4, 0.8, Infinity], counts: [0, 60, 95, 100, 100], sum: null };

describe('bucketAdvice', () => {
  test('gives the interval of each percentile and its width relative to the middle', () => {
    // Ranks 50 and 51 lie in (0.1, 0.2], 90 and 91 in (0.2, 0.4], 99 and 100 in (0.4, 0.8].
    const { intervals } = bucketAdvice(hundred, TRUE_COUNTS) ?? {};
    expect(intervals?.p50).toMatchObject({ low: 0.1, high: 0.2 });
    expect(intervals?.p90).toMatchObject({ low: 0.2, high: 0.4 });
    expect(intervals?.p99).toMatchObject({ low: 0.4, high: 0.8 });
    // 0.1 / 0.15, 0.2 / 0.3 and 0.4 / 0.6
    for (const interval of Object.values(intervals ?? {})) expect(interval?.relativeWidth).toBeCloseTo(2 / 3, 12);
  });

  test('divides each bucket that holds one of them in its middle', () => {
    expect(bucketAdvice(hundred, TRUE_COUNTS)?.divided).toEqual([
      { low: 0.1, high: 0.2, bound: 0.15 },
      { low: 0.2, high: 0.4, bound: 0.3 },
      { low: 0.4, high: 0.8, bound: 0.6 },
    ]);
  });

  test('one bound serves the percentiles that share a bucket', () => {
    const h = { bounds: [0.1, 0.4, Infinity], counts: [10, 1000, 1000], sum: null };
    expect(bucketAdvice(h, TRUE_COUNTS)?.divided).toEqual([{ low: 0.1, high: 0.4, bound: 0.25 }]);
  });

  test('divides the buckets at both ends of an interval, not the empty one between them', () => {
    // 10 values: rank 5 in (0, 1], rank 6 in (2, 4]; p90: ranks 9 and 10 in (2, 4]
    const h = { bounds: [1, 2, 4, Infinity], counts: [5, 5, 10, 10], sum: null };
    const advice = bucketAdvice(h, TRUE_COUNTS);
    expect(advice?.intervals.p50).toMatchObject({ low: 0, high: 4, width: 4, relativeWidth: 2, buckets: 3 });
    expect(advice?.divided).toEqual([
      { low: 0, high: 1, bound: 0.5 },
      { low: 2, high: 4, bound: 3 },
    ]);
  });

  test('names the bound above which one is missing, and does not invent it', () => {
    const h = { bounds: [0.1, 0.5, Infinity], counts: [50, 50, 100], sum: null };
    const advice = bucketAdvice(h, TRUE_COUNTS);
    expect(advice?.missingAbove).toBe(0.5);
    expect(advice?.intervals.p99).toEqual({
      low: 0.5,
      high: Infinity,
      width: null,
      relativeWidth: null,
      buckets: 1,
    });
    // Rank 51 of p50 is above 0.5 and rank 50 below 0.1: both decide it.
    expect(advice?.divided).toEqual([{ low: 0, high: 0.1, bound: 0.05 }]);
    expect(bucketAdvice(hundred, TRUE_COUNTS)?.missingAbove).toBeNull();
  });

  test('leaves a first bucket without a lower edge alone', () => {
    const h = { bounds: [0, 1, Infinity], counts: [100, 100, 100], sum: null };
    const advice = bucketAdvice(h, TRUE_COUNTS);
    expect(advice?.intervals.p50).toMatchObject({ low: -Infinity, high: 0, width: null, relativeWidth: null });
    expect(advice?.divided).toEqual([]);
  });

  test('knows which whole numbers a bucket can hold', () => {
    const whole = { exact: true, whole: true };
    const only = (low: number, high: number) =>
      bucketAdvice({ bounds: [low, high, Infinity], counts: [0, 100, 100], sum: null }, whole);
    // No bound excludes 0 from a first bucket.
    const first = (high: number) => bucketAdvice({ bounds: [high, Infinity], counts: [100, 100], sum: null }, whole);
    expect(first(1)?.intervals.p50).toMatchObject({ low: 0, high: 1, width: 1, relativeWidth: 2 });
    expect(first(1)?.divided).toEqual([]);
    expect(first(10)?.divided).toEqual([{ low: 0, high: 10, bound: 5 }]);
    expect(only(0, 10)?.intervals.p50).toMatchObject({ width: 9 });
    // (1, 2] holds 2 alone: nothing is uncertain and nothing is to be divided.
    expect(only(1, 2)?.intervals.p50).toMatchObject({ low: 1, high: 2, width: 0, relativeWidth: 0 });
    expect(only(1, 2)?.divided).toEqual([]);
    // 3, 4, 5: after the bound 4 the halves are 3 and 4, and 5.
    expect(only(2, 5)?.intervals.p50).toMatchObject({ low: 2, high: 5, width: 2, relativeWidth: 0.5 });
    expect(only(2, 5)?.divided).toEqual([{ low: 2, high: 5, bound: 4 }]);
    // 101 to 300: 101 to 200 and 201 to 300 are 99 wide, half of 199.
    expect(only(100, 300)?.divided).toEqual([{ low: 100, high: 300, bound: 200 }]);
  });

  test('takes the bucket of the estimate where counts are extrapolated', () => {
    // Total 2.5: the rank of p50 is 1.25, of p90 2.25, of p99 2.475.
    const rate = { bounds: [0.1, 0.5, 1, Infinity], counts: [0.5, 0.5, 2.5, 2.5], sum: null };
    const advice = bucketAdvice(rate, { exact: false, whole: false });
    expect(advice?.intervals.p50).toMatchObject({ low: 0.5, high: 1 });
    expect(advice?.divided).toEqual([{ low: 0.5, high: 1, bound: 0.75 }]);
  });

  test.each<[name: string, h: ClassicHistogram]>([
    ['no observations', { bounds: [1, Infinity], counts: [0, 0], sum: null }],
    ['no +Inf bucket', { bounds: [1, 2], counts: [1, 2], sum: null }],
    ['no bucket', { bounds: [], counts: [], sum: null }],
  ])('is null: %s', (_name, h) => {
    expect(bucketAdvice(h, TRUE_COUNTS)).toBeNull();
  });

  const grid = fc
    .uniqueArray(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 10 })
    .map((bounds) => bounds.sort((a, b) => a - b));
  const measured = fc.array(fc.double({ min: 0, max: 400, noNaN: true }), { minLength: 1, maxLength: 300 });
  const counted = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 300 });
  const QUANTILES = [
    ['p50', 0.5],
    ['p90', 0.9],
    ['p99', 0.99],
  ] as const;

  /** The buckets that decide a percentile: of the two values next to it, and of Prometheus' rank. */
  function decisive({ bounds, counts }: ClassicHistogram, q: number): Set<number> {
    const n = counts.at(-1) ?? 0;
    const k = (n - 1) * q;
    const ranks = [Math.floor(k) + 1, Math.min(n, Math.ceil(k) + 1), q * n];
    return new Set(ranks.map((rank) => Math.min(rankBucket(counts, rank), bounds.length - 1)));
  }

  test.each<[string, fc.Arbitrary<number[]>, boolean]>([
    ['measured values', measured, false],
    ['whole numbers', counted, true],
  ])(
    'with the new bounds, intervals of %s that one bucket decides are at most half as wide',
    (_name, values, whole) => {
      fc.assert(
        fc.property(values, grid, (observed, finite) => {
          const options = { exact: true, whole };
          const before = bucketAdvice(observe(observed, finite), options);
          if (before === null) throw new Error('no advice');
          const added = before.divided.map(({ bound }) => bound);
          for (const bound of added) expect(finite).not.toContain(bound);
          const finer = observe(
            observed,
            [...finite, ...added].sort((a, b) => a - b),
          );
          const after = bucketAdvice(finer, options);
          for (const [name, q] of QUANTILES) {
            const [was, is] = [before.intervals[name], after?.intervals[name]];
            const inOne = decisive(observe(observed, finite), q).size === 1 && decisive(finer, q).size === 1;
            if (was?.width == null || is?.width == null || !inOne) continue;
            // Only a bound at 0 divides [0, 1] of whole numbers; the example above leaves that bucket alone.
            if (whole && was.low === 0 && was.high === 1) continue;
            expect(is.width).toBeLessThanOrEqual((was.width / 2) * (1 + 1e-9));
          }
        }),
        { numRuns: 2000 },
      );
    },
  );

  test('asks for at most one bound per bucket, and for none outside of the intervals', () => {
    fc.assert(
      fc.property(measured, grid, (observed, finite) => {
        const advice = bucketAdvice(observe(observed, finite), TRUE_COUNTS);
        const intervals = Object.values(advice?.intervals ?? {});
        expect(new Set(advice?.divided.map(({ low }) => low)).size).toBe(advice?.divided.length);
        for (const { bound } of advice?.divided ?? [])
          expect(intervals.some((each) => each !== null && bound > each.low && bound < each.high)).toBe(true);
      }),
    );
  });
});

/** Counts per bucket, the last above the last bound. */
function series(labels: Record<string, string>, bounds: number[], perBucket: number[], exact = true): ObservedSeries {
  let sum = 0;
  const counts = perBucket.map((count) => (sum += count));
  return { family: 'latency', labels, histogram: { bounds: [...bounds, Infinity], counts, sum: null }, exact };
}

const seconds = (): string => 'seconds';

test('adds the series of the parts of a server, which share their bounds', () => {
  const [advice] = familyAdvice(
    [
      series({ model: 'm', engine: '0' }, [1, 2], [100, 0, 0]),
      series({ model: 'm', engine: '1' }, [1, 2], [0, 100, 0]),
    ],
    seconds,
  );
  expect(advice?.groups).toHaveLength(1);
  expect(advice?.groups[0]).toMatchObject({ labels: { model: 'm' }, n: 200, exact: true });
  // p50 lies between rank 100 in (0, 1] and rank 101 in (1, 2]: both are divided, for both engines.
  expect(advice?.divided.map(({ bound }) => bound)).toEqual([0.5, 1.5]);
  // 2 × (3 buckets, sum, count), and 2 bounds for each of the 2 series
  expect(advice).toMatchObject({ series: 10, seriesAdded: 4, missingAbove: null });
});

test('keeps other labels and other bounds apart, and joins what they need', () => {
  const [advice] = familyAdvice(
    [
      series({ stage: 'decode' }, [1, 2], [10, 0, 0]),
      series({ stage: 'prefill' }, [1, 2], [0, 20, 0]),
      series({ stage: 'prefill' }, [1, 4], [0, 0, 30]),
    ],
    seconds,
  );
  expect(advice?.groups.map(({ labels, n }) => [labels['stage'], n])).toEqual([
    ['prefill', 30],
    ['prefill', 20],
    ['decode', 10],
  ]);
  expect(advice).toMatchObject({ bounds: [1, 2, 4], missingAbove: 4 });
  expect(advice?.divided.map(({ bound }) => bound)).toEqual([0.5, 1.5]);
});

test('a group with an extrapolated series is not exact', () => {
  const [advice] = familyAdvice(
    [series({ rank: '0' }, [1], [1, 0]), series({ rank: '1' }, [1], [0.5, 0.5], false)],
    seconds,
  );
  expect(advice?.groups[0]?.exact).toBe(false);
});

test('a family without observations has its bounds and no advice', () => {
  const [advice] = familyAdvice([series({}, [1, 2], [0, 0, 0])], seconds);
  expect(advice).toMatchObject({ groups: [], bounds: [1, 2], divided: [], series: 5, seriesAdded: 0 });
});

test('whole numbers are counted', () => {
  const [advice] = familyAdvice([series({}, [1, 2], [0, 50, 0])], () => 'tokens');
  expect(advice?.groups[0]?.intervals.p50?.width).toBe(0);
  expect(advice?.divided).toEqual([]);
});

test.each<[unit: string | null, bounds: number[], whole: boolean]>([
  ['tokens', [1, 10, Infinity], true],
  ['requests', [1, 2], true],
  ['seconds', [1, 2], false],
  ['milliseconds', [100, 500], false],
  ['tokens_per_second', [1, 8], false],
  ['ratio', [0, 1], false],
  ['bytes', [2048], false],
  // Half blocks exist there.
  ['blocks', [0.25, 0.5, 1], false],
  [null, [1, 2], false],
])('%p with the bounds %p: %p', (unit, bounds, whole) => {
  expect(hasWholeValues(unit, bounds)).toBe(whole);
});
