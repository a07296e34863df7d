import { expect, test } from '@jest/globals';
import { blockBootstrap } from '../stats/block-bootstrap.ts';
import { PERCENTILE_NAMES, PERCENTILES } from '../stats/percentiles.ts';
import { samplingIntervals } from './sampling-intervals.ts';

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
