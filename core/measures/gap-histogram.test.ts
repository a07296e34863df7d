import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { GapHistogram } from './chunk-reading.ts';

function histogramOf(gaps_ns: readonly number[]): GapHistogram {
  const histogram = new GapHistogram();
  for (const gap of gaps_ns) histogram.observe(gap);
  return histogram;
}

describe('GapHistogram', () => {
  test('nothing counted', () => {
    const { n, mean, min, max } = histogramOf([]);
    expect({ n, mean, min, max }).toEqual({ n: 0, mean: null, min: null, max: null });
    expect(histogramOf([]).toClassic()).toEqual({ bounds: [Infinity], counts: [0], sum: 0 });
  });

  test('count, mean, deviation and extremes are exact', () => {
    // 2, 4, 4, 4, 5, 5, 7, 9 µs: mean 5; squares 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32.
    const histogram = histogramOf([2, 4, 4, 4, 5, 5, 7, 9].map((us) => us * 1000));
    expect(histogram.n).toBe(8);
    expect(histogram.mean).toBeCloseTo(5e-6, 15);
    expect(histogram.sumOfSquares).toBeCloseTo(32e-12, 18);
    expect([histogram.min, histogram.max]).toEqual([2000 * 1e-9, 9000 * 1e-9]);
  });

  test('a quantile is within 0.4 % of the lower order statistic at its rank, and never beyond the extremes', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 1e12 }), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(gaps, fc.double({ min: 0, max: 1, noNaN: true }), (values, q) => {
        const exact = values.toSorted((a, b) => a - b)[Math.floor(q * (values.length - 1))] ?? NaN;
        const found = (histogramOf(values).quantile(q) ?? NaN) * 1e9;
        expect(Math.abs(found - exact)).toBeLessThanOrEqual(0.004 * exact + 1e-3);
      }),
    );
    expect(histogramOf([1000]).quantile(0.5)).toBe(1e-6);
    expect(histogramOf([]).quantile(0.5)).toBeNull();
  });

  test('whole nanoseconds below 256 have a bucket each; then two share one', () => {
    const { bounds, counts } = histogramOf([0, 127, 128, 255, 256, 257, 258]).toClassic();
    const at = (ns: number): number | undefined => counts[bounds.indexOf(ns * 1e-9)];
    expect([0, 126, 127, 128, 254, 255, 257, 259].map(at)).toEqual([1, 1, 2, 3, 3, 4, 6, 7]);
  });

  test('a gap lies in a bucket narrower than 0.8 % of it, or of 1 ns, up to 2^53', () => {
    const gap = fc.oneof(
      fc.maxSafeNat(),
      fc
        .integer({ min: 0, max: 53 })
        .chain((octave) =>
          fc.integer({ min: -2, max: 2 }).map((d) => Math.min(Math.max(2 ** octave + d, 0), Number.MAX_SAFE_INTEGER)),
        ),
    );
    fc.assert(
      fc.property(gap, (ns) => {
        const { bounds, counts } = histogramOf([ns]).toClassic();
        const bucket = counts.indexOf(1);
        const high = (bounds[bucket] ?? NaN) * 1e9;
        const low = bucket === 0 ? -1 : (bounds[bucket - 1] ?? NaN) * 1e9;
        expect(ns).toBeLessThanOrEqual(high * (1 + 1e-12));
        expect(ns).toBeGreaterThan(low * (1 - 1e-12) - 1e-9 * ns);
        expect(high - low).toBeLessThanOrEqual(Math.max(1.001, ns / 127));
      }),
      { numRuns: 300 },
    );
  });
});
