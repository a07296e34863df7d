import { FloatColumn } from '../../../core/stats/float-column.ts';
import type { MeasureResult } from '../../../core/run/result.ts';
import { checkStatistics, notePercentileMethod } from '../stated/check-statistics.ts';
import type { PercentileMethod } from '../stated/check-statistics.ts';
import type { Fields } from '../reading/fields.ts';
import type { ImportNotes } from '../import-notes.ts';
import {
  identityOf,
  inBaseUnits,
  limitsText,
  percentileNames,
  readStatistics,
  statedDistribution,
  statedGoodput,
  statedScalar,
  statedScalars,
} from '../stated/stated-measures.ts';
import type { StatedFigure, StatedStatistics } from '../stated/stated-measures.ts';
import { isIn } from './requests.ts';
import type { GuideRequest, GuideRequests, GuideWindow } from './requests.ts';

const MS = 1e-3;

const LATENCY: StatedFigure = ['request_latency', 'request_latency', 'sent_to_end_of_answer'];
const TTFT: StatedFigure = [
  'time_to_first_token_ms',
  'time_to_first_token',
  'sent_to_first_content_chunk',
  { scale: MS },
];

const DISTRIBUTIONS: readonly StatedFigure[] = [
  LATENCY,
  ['request_scheduled_latency', 'request_latency', 'due_to_end_of_answer', { clock: 'due' }],
  TTFT,
  ['prompt_token_count', 'input_sequence_length', 'prompt_tokens_of_unknown_source'],
  ['output_token_count', 'output_sequence_length', 'completion_tokens_of_unknown_source'],
];

/** What changed its definition with 0.4: until then each request counted once, and the first token was not in the time. */
const tokenTimes = (isFlat: boolean): readonly [StatedFigure, StatedFigure] => [
  [
    'inter_token_latency_ms',
    'inter_token_latency',
    isFlat ? 'per_request_mean_tokens_of_unknown_source' : 'per_request_mean_weighted_by_tokens',
    { scale: MS },
  ],
  [
    'time_per_output_token_ms',
    'time_per_output_token',
    isFlat ? 'decode_duration_over_output_tokens' : 'time_to_last_token_over_output_tokens',
    { unit: 'seconds', scale: MS },
  ],
];

/** Means over the measurement, of the ok requests. */
const RATES: readonly StatedFigure[] = [
  ['requests_per_second', 'request_throughput', 'ok_requests_ended_over_measurement'],
  ['prompt_tokens_per_second', 'input_token_throughput', 'ok_input_tokens_spread_over_measurement'],
  ['output_tokens_per_second', 'output_token_throughput', 'ok_output_tokens_spread_over_measurement'],
  ['tokens_per_second', 'total_token_throughput', 'ok_tokens_spread_over_measurement'],
];

const STATISTICS = {
  ...{ mean: 'mean', std: 'std_dev', min: 'min', max: 'max' },
  percentiles: percentileNames({ p1: 'p01', p5: 'p05', p99_9: 'p999' }),
};
const PERCENTILE = /^p\d/;

/** The figures of a benchmark; of `isFlat`, up to 0.3, see `tokenTimes`. `isWhole`: its requests are all in the report. */
export function statedMeasures(
  metrics: Fields,
  limits: Fields | null,
  { isFlat, isWhole }: { readonly isFlat: boolean; readonly isWhole: boolean },
): MeasureResult[] {
  const [betweenTokens, perToken] = tokenTimes(isFlat);
  const distribution = (row: StatedFigure, isMeanAlone: boolean): MeasureResult[] => {
    const found = statisticsOf(metrics, row[0]);
    if (found === null) return [];
    const statistics = isMeanAlone ? { n: found.n, mean: found.mean ?? null } : found;
    return [statedDistribution(identityOf(row), statistics, row[3]?.scale)];
  };
  const mean = (name: string, status: Status): number | null => reported(metrics, name, status)?.amount('mean') ?? null;
  const inFlight = mean('request_concurrency', 'total');
  const concurrency = { measure: 'effective_concurrency', definition: 'time_weighted_requests_in_flight' } as const;
  const [rate, share] = [mean('request_goodput', 'successful'), metrics.amount('slo_attainment')];
  return [
    // Beside records of the whole run they are what the notes name: their percentiles are taken in another way.
    ...[...DISTRIBUTIONS, betweenTokens].flatMap((row) => distribution(row, isWhole)),
    ...distribution(perToken, false),
    // Up to 0.3 the rates of tokens were means of rates between chunks, which no definition names.
    ...statedScalars((name) => mean(name, 'successful'), isFlat ? RATES.slice(0, 1) : RATES),
    ...(inFlight === null ? [] : [statedScalar({ ...concurrency, population: 'all' }, inFlight)]),
    ...(limits === null ? [] : statedGoodput([rate, 'measurement'], [share, 'ok_and_error'], limitsText(limits))),
  ];
}

type Status = 'successful' | 'total';

/** The statistics of a metric over the requests of a status; null without any, where the report writes zeros. */
function reported(metrics: Fields, name: string, status: Status): Fields | null {
  const found = metrics.object(name)?.object(status) ?? null;
  return found === null || found.count('count') === 0 ? null : found;
}

/** Up to 0.3 the median has no other name. */
function statisticsOf(metrics: Fields, name: string): StatedStatistics | null {
  const found = reported(metrics, name, 'successful');
  if (found === null) return null;
  const percentile = found.at('percentiles');
  const read = (key: string): number | null => (PERCENTILE.test(key) ? percentile : found).amount(key);
  const statistics = readStatistics(read, STATISTICS, found.count('count'));
  const p50 = statistics.percentiles?.p50 ?? found.amount('median');
  return { ...statistics, percentiles: { ...statistics.percentiles, p50 } };
}

/** The smallest value whose share of values at or below it reaches q; the sums of shares have the tool's rounding. */
export const CUMULATIVE_SHARE: PercentileMethod = (ascending, q) => {
  const share = 1 / ascending.length;
  let reached = 0;
  for (const value of ascending) {
    reached += share;
    if (reached >= q) return value;
  }
  return ascending.at(-1) ?? NaN;
};

/**
 * Compares what a report reports of latency and time to first token with its own requests, over the requests that the tool
 * takes: those whose span (to their end, to their first token) meets the measurement.
 */
export function checkReport(metrics: Fields, requests: GuideRequests, window: GuideWindow, notes: ImportNotes): void {
  const check = ([name, measure, , more]: StatedFigure, endOf: (request: GuideRequest) => number | null): void => {
    const statistics = statisticsOf(metrics, name);
    if (statistics === null) return;
    const spans = new FloatColumn();
    for (const request of requests) {
      const end_s = request.status === 'successful' ? endOf(request) : null;
      if (end_s !== null && isIn({ sent_s: request.sent_s, end_s }, window)) spans.append(end_s - request.sent_s);
    }
    const [stated, values] = [inBaseUnits(statistics, more?.scale ?? 1), spans.toArray()];
    checkStatistics(name, stated, values, CUMULATIVE_SHARE, notes);
    // The definition is ours, the percentiles are not.
    if (measure === 'time_to_first_token') notePercentileMethod(measure, stated.percentiles, values, notes);
  };
  check(LATENCY, ({ end_s }) => end_s);
  check(TTFT, ({ first_s }) => first_s);
}
