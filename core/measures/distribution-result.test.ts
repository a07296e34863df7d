import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { blockBootstrap } from '../stats/block-bootstrap.ts';
import { PERCENTILE_NAMES, summarize, PERCENTILES } from '../stats/percentiles.ts';
import { histogramDistribution, samplingIntervals } from './distribution-result.ts';
import { GapHistogram } from './chunk-reading.ts';
import { DISTRIBUTION_MEASURES, type DistributionMeasure } from './measures.ts';

const gapMeasure = DISTRIBUTION_MEASURES.find(
  ({ measure }) => measure === 'inter_chunk_latency',
) as DistributionMeasure;

test('the bounds of the histogram hold the exact percentiles of any gaps', () => {
  const gap_ns = fc.oneof(fc.nat(300), fc.nat(5_000_000_000), fc.maxSafeNat());
  fc.assert(
    fc.property(fc.array(gap_ns, { minLength: 1, maxLength: 60 }), (gaps_ns) => {
      const histogram = new GapHistogram();
      for (const ns of gaps_ns) histogram.observe(ns);
      const exact = summarize(Float64Array.from(gaps_ns, (ns) => ns * 1e-9));
      if (exact === null) throw new Error('there are gaps');
      const rough = histogramDistribution(gapMeasure, histogram);
      for (const name of PERCENTILE_NAMES) {
        const { value, bounds, ci95 } = rough.percentiles[name];
        const [low, high] = bounds ?? [NaN, NaN];
        expect(exact.percentiles[name]).toBeGreaterThanOrEqual(low * (1 - 1e-12));
        expect(exact.percentiles[name]).toBeLessThanOrEqual(high * (1 + 1e-12));
        expect(value).toBeGreaterThanOrEqual(low);
        expect(value).toBeLessThanOrEqual(high);
        expect(ci95).toBeNull();
      }
      expect(rough).toMatchObject({ n: exact.n, min: exact.min, max: exact.max });
      expect(rough.mean).toBeCloseTo(exact.mean, 6);
      // Seconds as doubles are rounded by their size, however near to each other they lie.
      const rounding = 16 * Number.EPSILON * exact.max;
      expect(Math.abs((rough.std ?? NaN) - exact.std)).toBeLessThanOrEqual(1e-6 * exact.std + rounding);
    }),
    { examples: [[[9007199253243417, 9007199249845216]]] },
  );
});

test('many gaps of the same size: the bounds are that size', () => {
  const histogram = new GapHistogram();
  for (let i = 0; i < 100; i++) histogram.observe(20_000_000);
  expect(histogramDistribution(gapMeasure, histogram).percentiles.p99).toEqual({
    value: 20_000_000 * 1e-9,
    ci95: null,
    bounds: [20_000_000 * 1e-9, 20_000_000 * 1e-9],
  });
});

test.each([1, 9, 10, 99, 500, 501, 5000])('%i values that are all the same: what the bootstrap says of them', (n) => {
  const values = new Float64Array(n).fill(0.25);
  const drawn = blockBootstrap(values, { quantiles: PERCENTILE_NAMES.map((name) => PERCENTILES[name]), resamples: 20 });
  const found = samplingIntervals(values, values);
  expect(found?.effective_n).toBe(drawn.effectiveSampleSize);
  expect(PERCENTILE_NAMES.map((name) => found?.ci95[name])).toEqual(drawn.intervals);
});

test('no values have no intervals, infinite ones neither', () => {
  const [none, infinite] = [new Float64Array(), new Float64Array(1000).fill(Infinity)];
  expect(samplingIntervals(none, none)).toBeNull();
  expect(samplingIntervals(infinite, infinite)?.ci95.p50).toBeNull();
});
