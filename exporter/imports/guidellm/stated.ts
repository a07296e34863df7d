import { PERCENTILE_NAMES } from '../../../core/stats/percentiles.ts';
import type { MeasureResult } from '../../../core/run/result.ts';
import type { PercentileName } from '../../../core/stats/percentiles.ts';
import type { Fields } from '../reading/fields.ts';
import { limitsText, statedGoodput, statedGoodRatio } from '../stated/stated-goodput.ts';
import { statedDistribution, statedScalar } from '../stated/stated-measures.ts';
import type { StatedIdentity } from '../stated/stated-measures.ts';

const MS = 1e-3;

/** How a report calls the percentiles that a result has. */
export const PERCENTILE_KEYS: Readonly<Record<PercentileName, string>> = {
  p1: 'p01',
  p5: 'p05',
  p10: 'p10',
  p25: 'p25',
  p50: 'p50',
  p75: 'p75',
  p90: 'p90',
  p95: 'p95',
  p99: 'p99',
  p99_9: 'p999',
};

/** Each metric with its measure and the factor to base units. */
const DISTRIBUTIONS: readonly (readonly [string, StatedIdentity, number])[] = [
  ['request_latency', { measure: 'request_latency', definition: 'sent_to_end_of_answer' }, 1],
  ['request_scheduled_latency', { measure: 'request_latency', definition: 'due_to_end_of_answer', clock: 'due' }, 1],
  ['time_to_first_token_ms', { measure: 'time_to_first_token', definition: 'sent_to_first_content_chunk' }, MS],
  ['prompt_token_count', { measure: 'input_sequence_length', definition: 'prompt_tokens_of_unknown_source' }, 1],
  ['output_token_count', { measure: 'output_sequence_length', definition: 'completion_tokens_of_unknown_source' }, 1],
];

/** Means over the measurement, of the ok requests. */
const RATES: readonly (readonly [string, StatedIdentity])[] = [
  ['requests_per_second', { measure: 'request_throughput', definition: 'ok_requests_ended_over_measurement' }],
  [
    'prompt_tokens_per_second',
    { measure: 'input_token_throughput', definition: 'ok_input_tokens_spread_over_measurement' },
  ],
  [
    'output_tokens_per_second',
    { measure: 'output_token_throughput', definition: 'ok_output_tokens_spread_over_measurement' },
  ],
  ['tokens_per_second', { measure: 'total_token_throughput', definition: 'ok_tokens_spread_over_measurement' }],
];

/**
 * The distributions of the ok requests as the report reports them; a metric without a value is absent. Up to 0.3
 * (`isFlat`) each request counted once in the latency between tokens, from 0.4 on as often as it has tokens.
 */
export function statedDistributions(metrics: Fields, isFlat: boolean): MeasureResult[] {
  const definition = isFlat ? 'per_request_mean_tokens_of_unknown_source' : 'per_request_mean_weighted_by_tokens';
  const betweenTokens = { measure: 'inter_token_latency', definition } as const;
  return [
    ...DISTRIBUTIONS.flatMap(([name, identity, factor]) => distributionOf(metrics, name, identity, factor)),
    ...distributionOf(metrics, 'inter_token_latency_ms', betweenTokens, MS),
  ];
}

/** The same figure with its mean only. */
export function meanAlone(result: MeasureResult): MeasureResult {
  if (result.kind === 'scalar') return result;
  return statedDistribution(result, { n: result.n, mean: result.mean });
}

/** Up to 0.3 the first token is not in the time but in the count; from 0.4 on it is in both. */
export function statedTimePerOutputToken(metrics: Fields, isFlat: boolean): MeasureResult[] {
  const definition = isFlat ? 'decode_duration_over_output_tokens' : 'time_to_last_token_over_output_tokens';
  const identity = { measure: 'time_per_output_token', definition, unit: 'seconds' } as const;
  return distributionOf(metrics, 'time_per_output_token_ms', identity, MS);
}

/** Up to 0.3 the rates of tokens were means of rates between chunks, which no definition names: they are not taken. */
export function statedRates(metrics: Fields, isFlat: boolean): MeasureResult[] {
  const rates = (isFlat ? RATES.slice(0, 1) : RATES).flatMap(([name, identity]) => {
    const mean = reported(metrics, name, 'successful')?.amount('mean') ?? null;
    return mean === null ? [] : [statedScalar(identity, mean)];
  });
  const inFlight = reported(metrics, 'request_concurrency', 'total')?.amount('mean') ?? null;
  if (inFlight === null) return rates;
  const identity = { measure: 'effective_concurrency', definition: 'time_weighted_requests_in_flight' } as const;
  return [...rates, statedScalar({ ...identity, population: 'all' }, inFlight)];
}

/** What is good under the limits that were requested; nothing without limits. */
export function statedGood(metrics: Fields, limits: Fields | null): MeasureResult[] {
  const rate = reported(metrics, 'request_goodput', 'successful')?.amount('mean') ?? null;
  const share = metrics.amount('slo_attainment');
  if (limits === null) return [];
  const text = limitsText(limits);
  return [
    ...(rate === null ? [] : [statedGoodput(rate, 'measurement', text)]),
    ...(share === null ? [] : [statedGoodRatio(share, 'ok_and_error', text)]),
  ];
}

/** The statistics of a metric over the requests of a status; null without any, where the report writes zeros. */
export function reported(metrics: Fields, name: string, status: 'successful' | 'total'): Fields | null {
  const found = metrics.object(name)?.object(status) ?? null;
  return found === null || found.count('count') === 0 ? null : found;
}

function distributionOf(metrics: Fields, name: string, identity: StatedIdentity, factor: number): MeasureResult[] {
  const statistics = reported(metrics, name, 'successful');
  if (statistics === null) return [];
  const named = PERCENTILE_NAMES.map((each) => [each, percentileOf(statistics, each)] as const);
  return [
    statedDistribution(
      identity,
      {
        n: statistics.count('count'),
        mean: statistics.amount('mean'),
        std: statistics.amount('std_dev'),
        min: statistics.amount('min'),
        max: statistics.amount('max'),
        percentiles: Object.fromEntries(named),
      },
      factor,
    ),
  ];
}

/** A percentile among the statistics of a metric; up to 0.3 the median has no other name. */
export function percentileOf(statistics: Fields, name: PercentileName): number | null {
  const value = statistics.object('percentiles')?.amount(PERCENTILE_KEYS[name]) ?? null;
  return value ?? (name === 'p50' ? statistics.amount('median') : null);
}
