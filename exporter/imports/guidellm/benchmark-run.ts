import { closedLoop, type Load } from '../../../core/run/load.ts';
import type { MeasureResult } from '../../../core/run/result.ts';
import { FloatColumn } from '../../../core/stats/float-column.ts';
import type { ImportNotes } from '../import-notes.ts';
import { known, reportedRun, type ImportedRun, type KnownKey } from '../importer.ts';
import { publicOriginOrNull, type Fields } from '../reading/fields.ts';
import { wallInstant } from '../reading/wall-time.ts';
import { checkStatistics, notePercentileMethod, type PercentileMethod } from '../stated/check-statistics.ts';
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
  type StatedFigure,
  type StatedStatistics,
} from '../stated/stated-measures.ts';
import { isIn, guideRecords, type GuideRequest, type GuideRequests, type GuideWindow } from './requests.ts';

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
function statedMeasures(
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
function checkReport(metrics: Fields, requests: GuideRequests, window: GuideWindow, notes: ImportNotes): void {
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

/** What holds for all benchmarks of a report. */
export interface ReportFacts {
  readonly version: string | null;
  readonly schema_version: string | null;
  /** How many benchmarks it has. */
  readonly benchmarks: number;
}

/** A benchmark of a report as a run; `index` is its place in the report. */
export function benchmarkRun(
  benchmark: Fields,
  requests: GuideRequests,
  index: number,
  report: ReportFacts,
  notes: ImportNotes,
): ImportedRun {
  const config = benchmark.object('config');
  // Up to 0.3 the configuration was in `args`, and the result in `run_stats` and `worker`.
  const args = config ?? benchmark.at('args');
  const strategy = args.at('strategy');
  const metrics = benchmark.object('metrics');
  const window = windowOf(benchmark);
  requests.noteLeftOut(notes);
  const totals = metrics?.object('request_totals') ?? benchmark.at('request_totals');
  const ok = totals.count('successful');
  const overview = overviewOf(requests, window);
  const isWhole = requests.size > 0 && ok === overview.ok;
  if (metrics !== null && isWhole) checkReport(metrics, requests, window, notes);
  const zero_s = requests.size > 0 ? overview.earliest_s : (window?.start_s ?? null);
  const several = report.benchmarks > 1;
  const backend = backendOf(benchmark, config, requests.kind);
  notePeculiarities(requests.size, overview, notes);
  // Where the tool prefers what the server reports, and keeps the count only when it reported one, that count is the server's.
  const tokenSource = config?.boolean('prefer_response_metrics') === true ? 'usage' : null;
  const context = { window, hasSchedule: SCHEDULED.has(strategy.text('type_') ?? ''), tokenSource } as const;
  return reportedRun({
    part: several ? String(index) : null,
    tool: 'guidellm',
    version: report.version,
    format: 'guidellm-report',
    schema_version: report.schema_version,
    target: { origin: backend.origin },
    key: {
      ...known({
        endpoint_type: backend.endpoint_type,
        model: backend.model,
        load: loadOf(strategy),
        streaming: backend.streaming ?? (overview.hasFirstTokens || null),
      }),
      stop: stopOf(args),
    },
    ...(several && {
      placement: { group_id: args.text('run_id') ?? benchmark.text('run_id'), step: index, repeat: null },
    }),
    start: zero_s === null ? null : wallInstant(zero_s * 1000),
    records: requests.size === 0 || zero_s === null ? null : guideRecords(requests, { ...context, zero_s }, notes),
    stated: {
      window_seconds: window === null ? null : window.end_s - window.start_s,
      window_start_ns: window === null || zero_s === null ? null : Math.round((window.start_s - zero_s) * 1e9),
      requests: { ok, error: totals.count('errored'), cancelled: totals.count('incomplete') },
      measures:
        metrics === null ? [] : statedMeasures(metrics, args.object('slo'), { isFlat: config === null, isWhole }),
    },
    notes,
  });
}

/** What the requests of a benchmark have in common, from one pass. */
interface RequestsOverview {
  /** Ok requests in the window. */
  readonly ok: number;
  readonly earliest_s: number;
  readonly hasFirstTokens: boolean;
  readonly hasIncomplete: boolean;
}

function overviewOf(requests: GuideRequests, window: GuideWindow): RequestsOverview {
  let [ok, earliest_s, hasFirstTokens, hasIncomplete] = [0, Infinity, false, false];
  for (const request of requests) {
    if (request.status === 'successful' && isIn(request, window)) ok += 1;
    if (request.status === 'incomplete') hasIncomplete = true;
    if (request.first_s !== null) hasFirstTokens = true;
    earliest_s = Math.min(earliest_s, request.sent_s);
  }
  return { ok, earliest_s, hasFirstTokens, hasIncomplete };
}

function windowOf(benchmark: Fields): GuideWindow {
  const scheduler = benchmark.at('scheduler_metrics');
  const start_s = scheduler.amount('measure_start_time') ?? benchmark.amount('start_time');
  const end_s = scheduler.amount('measure_end_time') ?? benchmark.amount('end_time');
  return start_s === null || end_s === null || end_s < start_s ? null : { start_s, end_s };
}

const ENDPOINTS: Readonly<Record<string, string>> = {
  '/v1/chat/completions': 'chat',
  '/v1/completions': 'completions',
  '/v1/responses': 'responses',
  '/v1/embeddings': 'embeddings',
  chat_completions: 'chat',
  text_completions: 'completions',
};

/** `kind`: the kind of request that the requests report. */
function backendOf(
  benchmark: Fields,
  config: Fields | null,
  kind: string | null,
): Record<'origin' | 'model' | 'endpoint_type', string | null> & { readonly streaming: boolean | null } {
  const backend = config?.object('backend') ?? null;
  const worker = benchmark.object('worker');
  const target = backend?.text('target') ?? worker?.text('backend_target') ?? null;
  const format = backend?.text('request_format') ?? kind;
  return {
    origin: target === null ? null : publicOriginOrNull(target),
    model: backend?.text('model') ?? worker?.text('backend_model') ?? null,
    endpoint_type: format !== null && Object.hasOwn(ENDPOINTS, format) ? (ENDPOINTS[format] ?? null) : null,
    streaming: backend?.boolean('stream') ?? null,
  };
}

function stopOf(args: Fields): NonNullable<KnownKey['stop']> {
  const limits = args.at('constraints');
  const count = limitOf(limits.object('max_requests'), ['count', 'max_num', 'max_requests']);
  const time = limits.object('max_duration') ?? limits.object('max_seconds');
  const seconds = limitOf(time, ['seconds', 'duration', 'max_duration', 'max_seconds']);
  return {
    request_count: count ?? args.count('max_number'),
    benchmark_duration_seconds: seconds ?? args.amount('max_duration'),
  };
}

/** A limit is in `args` or next to it; of a list of limits the current one counts. */
function limitOf(limit: Fields | null, names: readonly string[]): number | null {
  if (limit === null) return null;
  const index = limit.count('current_index') ?? 0;
  for (const members of [limit.object('args'), limit]) {
    for (const name of names) {
      const value = members?.raw(name);
      const found: unknown = Array.isArray(value) ? value[index] : value;
      if (typeof found === 'number' && Number.isFinite(found) && found > 0) return found;
    }
  }
  return null;
}

function notePeculiarities(requests: number, { hasIncomplete }: RequestsOverview, notes: ImportNotes): void {
  if (requests > 0)
    notes.add(
      'times are from the wall clock, with a resolution of a quarter of a microsecond; clock adjustments affect them',
    );
  if (hasIncomplete) {
    notes.add('requests that were incomplete when the benchmark ended count as canceled');
  }
}

/** The strategies that send a request at a scheduled time; the others send it as soon as possible. */
const SCHEDULED: ReadonlySet<string> = new Set(['constant', 'poisson', 'async', 'replay', 'trace']);

/** The load of a strategy; undefined for one that is not known. */
function loadOf(strategy: Fields): Load | undefined {
  const limit = strategy.count('max_concurrency');
  const request_rate = strategy.amount('rate');
  const ramp = strategy.amount('rampup_duration');
  const concurrency_ramp_seconds = ramp === 0 ? null : ramp;
  switch (strategy.text('type_')) {
    case 'synchronous':
      return closedLoop(1);
    case 'concurrent':
      return { ...closedLoop(strategy.count('streams') ?? limit), concurrency_ramp_seconds };
    case 'throughput':
      return { ...closedLoop(limit), concurrency_ramp_seconds };
    case 'constant':
    case 'async':
      return { ...closedLoop(limit), mode: 'request_rate', request_rate, arrival_pattern: 'constant' };
    case 'poisson':
      return { ...closedLoop(limit), mode: 'request_rate', request_rate, arrival_pattern: 'poisson' };
    case 'replay':
    case 'trace':
      return { ...closedLoop(limit), mode: 'trace' };
    default:
      return undefined;
  }
}
