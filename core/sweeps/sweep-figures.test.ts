import { expect, test } from '@jest/globals';
import type { DistributionResult } from '../run/result.ts';
import { PERCENTILE_NAMES } from '../stats/percentiles.ts';
import { sweepFigures } from './sweep-figures.ts';

const itl = (percentile: DistributionResult['percentiles']['p50']): DistributionResult => ({
  ...{ measure: 'inter_token_latency', unit: 'seconds', definition: 'd', origin: 'client', population: 'ok' },
  ...{ clock: 'sent', kind: 'distribution', n: 1, effective_n: 1, mean: 1, std: 0, min: 1, max: 1 },
  percentiles: Object.fromEntries(PERCENTILE_NAMES.map((name) => [name, percentile])) as never,
});

const figures = (percentile: DistributionResult['percentiles']['p50']) => sweepFigures({ measures: [itl(percentile)] });

test('tokens per second of a user are the inverse of the inter-token latency, with its bounds', () => {
  const { tokens_per_second_per_user_p99: speed } = figures({ value: 0.02, ci95: null, bounds: [0.01, 0.04] });
  expect(speed).toEqual({ value: 50, low: 25, high: 100 });
});

test.each([null, 0])('a latency of %p has no speed', (value) => {
  expect(figures({ value, ci95: null, bounds: null }).tokens_per_second_per_user_p50).toBeNull();
});

test('what the result does not have is null', () => {
  expect(figures({ value: 0.02, ci95: null, bounds: null })).toMatchObject({
    goodput: null,
    time_to_first_token_p50: null,
  });
});
