import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { percentile, PERCENTILE_NAMES, PERCENTILES, summarize, selectRanks } from './percentiles.ts';

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

describe('summarize', () => {
  test('as numpy (mean, std with ddof 0)', () => {
    // numpy 2.4.6: x = np.array([...]); x.mean(), x.std(), np.percentile(x, [50, 99])
    const values = Float64Array.of(3.1, 0.2, 15.7, 4.4, 4.4, 9.03, 0.75, 2.2, 8.8, 1.6);
    const before = values.slice();
    const summary = summarize(values);
    expect(summary).toMatchObject({ n: 10, min: 0.2, max: 15.7 });
    expect(summary?.mean).toBeCloseTo(5.018, 12);
    expect(summary?.std).toBeCloseTo(4.582577440698629, 12);
    expect(summary?.percentiles.p50).toBe(3.75);
    expect(summary?.percentiles.p99).toBeCloseTo(15.0997, 12);
    expect(values).toEqual(before);
  });

  test('selects the same values as a sort would above a million', () => {
    // numpy 2.4.6: i = np.arange(1, 1200001.); s = ((i * 7919) % 1200007) / 1200007;
    // s.mean(), s.std(), s.min(), s.max(), np.quantile(s, [.01, .05, .1, .25, .5, .75, .9, .95, .99, .999])
    const values = Float64Array.from({ length: 1_200_000 }, (_, i) => (((i + 1) * 7919) % 1200007) / 1200007);
    const summary = summarize(values);
    expect(summary?.mean).toBeCloseTo(0.499997615484743, 13);
    expect(summary?.std).toBeCloseTo(0.28867364494850684, 13);
    expect(summary).toMatchObject({ min: 8.333284722505786e-7, max: 0.9999991666715278 });
    const expected = {
      p1: 0.01000076666219447,
      p5: 0.05000049999708335,
      p10: 0.10000016666569446,
      p25: 0.24999916667152774,
      p50: 0.49999750001458326,
      p75: 0.7499958333576388,
      p90: 0.8999948333634721,
      p95: 0.9499945000320832,
      p99: 0.9899984000093333,
      p99_9: 0.9989991733381555,
    };
    expect(summary?.percentiles).toEqual(expected);
  });

  test('keeps small deviations from a large mean', () => {
    // deviations -1, 0, 1: variance 2/3
    expect(summarize(Float64Array.of(1e9 - 1, 1e9, 1e9 + 1))?.std).toBeCloseTo(Math.sqrt(2 / 3), 12);
  });

  test('takes +Infinity for a value', () => {
    const summary = summarize(Float64Array.of(1, Infinity, 2));
    expect(summary).toMatchObject({ n: 3, mean: Infinity, min: 1, max: Infinity });
    expect(summary?.std).toBeNaN();
    expect(summary?.percentiles).toMatchObject({ p50: 2, p99: Infinity });
  });

  test('of nothing is null; NaN is refused', () => {
    expect(summarize(new Float64Array(0))).toBeNull();
    expect(() => summarize(Float64Array.of(1, NaN))).toThrow(RangeError);
  });
});

describe('selectRanks', () => {
  test('puts the values of the ranks where a sort puts them and loses none', () => {
    const values = fc.array(fc.integer({ min: 0, max: 500 }), { minLength: 1, maxLength: 3000, size: 'max' });
    fc.assert(
      fc.property(values, fc.array(fc.nat(), { maxLength: 6 }), (input, picks) => {
        const ranks = [...new Set(picks.map((pick) => pick % input.length))].sort((a, b) => a - b);
        const selected = Float64Array.from(input);
        selectRanks(selected, ranks);
        const sorted = Float64Array.from(input).sort();
        for (const rank of ranks) expect(selected[rank]).toBe(sorted[rank]);
        expect(selected.sort()).toEqual(sorted);
      }),
      { numRuns: 200 },
    );
  });
});
