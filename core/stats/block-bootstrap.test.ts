import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { blockBootstrap, placesOf } from './block-bootstrap.ts';
import { sfc32 } from './seeded-random.ts';

/** Standard normal values with correlation phi between neighbors. */
function autoregression(phi: number, n: number, seed: number): Float64Array {
  const next = sfc32(seed);
  const uniform = (): number => (next() + 0.5) / 2 ** 32;
  const normal = (): number => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  let x = normal();
  return Float64Array.from({ length: n }, () => (x = phi * x + Math.sqrt(1 - phi * phi) * normal()));
}

describe('blockBootstrap', () => {
  // Standard normal: median 0, p90 1.2816, p99 2.3263. 95 % intervals hold the truth in about 95 of 100 series; a
  // bootstrap of dependent values falls somewhat short. Ignoring the dependence at phi 0.8 would hold it in about 49.
  test.each([
    ['independent', 0, 1000, 60],
    ['dependent', 0.8, 4000, 50],
    ['more dependent', 0.8, 6000, 50],
    ['many dependent', 0.8, 51_000, 10],
  ])('covers the truth: %s', (_name, phi, n, series) => {
    const truths = [0, 1.2815515655446004, 2.3263478740408408, 0];
    const covered = truths.map(() => 0);
    const given = truths.map(() => 0);
    for (let seed = 1; seed <= series; seed++) {
      const { intervals, mean } = blockBootstrap(autoregression(phi, n, seed), {
        quantiles: [0.5, 0.9, 0.99],
        resamples: 200,
        seed,
      });
      for (const [i, interval] of [...intervals, mean].entries()) {
        const truth = truths[i] ?? NaN;
        if (interval === null) continue;
        given[i] = (given[i] ?? 0) + 1;
        if (interval[0] <= truth && truth <= interval[1]) covered[i] = (covered[i] ?? 0) + 1;
      }
    }
    for (const [i, count] of covered.entries()) {
      expect(given[i]).toBeGreaterThan(0.8 * series);
      expect(count / (given[i] ?? NaN)).toBeGreaterThan(0.8);
    }
    // Intervals that hold the truth always are too wide: the independent ones miss some.
    if (phi === 0) expect(Math.min(...covered)).toBeLessThan(series);
  });

  test('has the width of theory for the mean of independent values', () => {
    // 2 * 1.96 / sqrt(2000) = 0.0877
    const { mean, effectiveSampleSize } = blockBootstrap(autoregression(0, 2000, 5), {
      quantiles: [],
      resamples: 1000,
    });
    const width = mean === null ? NaN : mean[1] - mean[0];
    expect(width).toBeGreaterThan(0.075);
    expect(width).toBeLessThan(0.1);
    expect(effectiveSampleSize).toBeGreaterThan(1500);
  });

  test('says that there are too few for a percentile', () => {
    // 450 * 0.01 = 4.5 < 5 <= 450 * 0.05; even independent values do not suffice for p99
    const few = blockBootstrap(autoregression(0, 450, 1), { quantiles: [0.01, 0.5, 0.9, 0.99] });
    expect(few.intervals.map((interval) => interval !== null)).toEqual([false, true, true, false]);
    // 1,000 dependent values are worth about 50: 50 * 0.01 = 0.5 < 2
    const dependent = blockBootstrap(autoregression(0.9, 1000, 1), { quantiles: [0.5, 0.99] });
    expect(dependent.effectiveSampleSize).toBeLessThan(120);
    expect(dependent.intervals[0]).not.toBeNull();
    expect(dependent.intervals[1]).toBeNull();
    expect(blockBootstrap(Float64Array.of(1, 2, 3), { quantiles: [0.5] })).toMatchObject({
      intervals: [null],
      mean: null,
    });
  });

  test('draws the same for a percentile whatever else is wanted', () => {
    const values = autoregression(0.3, 300, 3);
    const { intervals } = blockBootstrap(values, { quantiles: [0.001, 0.5, 0.99, 0.9] });
    expect(intervals.map((interval) => interval !== null)).toEqual([false, true, false, true]);
    for (const [i, q] of [
      [1, 0.5],
      [3, 0.9],
    ] as const)
      expect(blockBootstrap(values, { quantiles: [q] }).intervals).toEqual([intervals[i]]);
  });

  test('has no interval of the extremes', () => {
    expect(blockBootstrap(autoregression(0, 1000, 1), { quantiles: [0, 1] }).intervals).toEqual([null, null]);
  });

  test('finds stalls that hit neighbors in the tail', () => {
    // 5 stalls of 40 among 10,000: slow ones are 2 %, in 5 pieces, so p98.5 is known worse than by 10,000 values
    const values = autoregression(0, 10_000, 3).map((value, i) => (i % 2000 < 40 ? 100 + value : value));
    const { effectiveSampleSizes, blockLength } = blockBootstrap(values, { quantiles: [0.985] });
    expect(effectiveSampleSizes[0]).toBeLessThan(2000);
    expect(blockLength).toBeGreaterThanOrEqual(20);
  });

  test('gives the same for the same seed, another for another, and leaves its input alone', () => {
    const values = autoregression(0.5, 500, 1);
    const before = values.slice();
    const run = (seed: number) => blockBootstrap(values, { quantiles: [0.5, 0.9], seed });
    expect(run(7)).toEqual(run(7));
    expect(run(7).intervals).not.toEqual(run(8).intervals);
    expect(values).toEqual(before);
  });

  test('widens with the confidence', () => {
    const values = autoregression(0, 1000, 1);
    const width = (confidence: number): number => {
      const [interval] = blockBootstrap(values, { quantiles: [0.5], confidence }).intervals;
      return interval ? interval[1] - interval[0] : NaN;
    };
    expect(width(0.5)).toBeLessThan(width(0.9));
    expect(width(0.9)).toBeLessThan(width(0.99));
  });

  test('of equal values is that value', () => {
    expect(blockBootstrap(new Float64Array(100).fill(0.25), { quantiles: [0.5] })).toEqual({
      intervals: [[0.25, 0.25]],
      mean: [0.25, 0.25],
      effectiveSampleSize: 100,
      effectiveSampleSizes: [100],
      blockLength: 1,
    });
  });

  test('takes +Infinity for a value; there is no mean then', () => {
    const values = autoregression(0, 1000, 1).map((value, i) => (i % 10 === 0 ? Infinity : value));
    const { intervals, mean } = blockBootstrap(values, { quantiles: [0.5, 0.97] });
    expect(mean).toBeNull();
    expect(intervals[0]?.every(Number.isFinite)).toBe(true);
    expect(intervals[1]).toEqual([Infinity, Infinity]);
  });

  test('of nothing is nothing', () => {
    expect(blockBootstrap(new Float64Array(0), { quantiles: [0.5] })).toEqual({
      intervals: [null],
      mean: null,
      effectiveSampleSize: 0,
      effectiveSampleSizes: [0],
      blockLength: 1,
    });
  });

  test('refuses NaN and options out of range', () => {
    const values = Float64Array.of(1, 2);
    expect(() => blockBootstrap(Float64Array.of(1, NaN), { quantiles: [0.5] })).toThrow(RangeError);
    expect(() => blockBootstrap(values, { quantiles: [1.5] })).toThrow(RangeError);
    expect(() => blockBootstrap(values, { quantiles: [], confidence: 95 })).toThrow(RangeError);
    expect(() => blockBootstrap(values, { quantiles: [], resamples: 0 })).toThrow(RangeError);
  });
});

test('the place of each value is that of the first one like it in the sorted values', () => {
  const value = fc.oneof(fc.constantFrom(0, 1, Infinity), fc.double({ noNaN: true }));
  fc.assert(
    fc.property(fc.array(value, { maxLength: 1000 }), (list) => {
      const values = Float64Array.from(list, (each) => each + 0);
      const sorted = values.slice().sort();
      expect([...placesOf(values, sorted)]).toEqual([...values].map((each) => sorted.indexOf(each)));
    }),
    { numRuns: 300 },
  );
});
