import { nearestRank, TOKENIZER_DEFINITIONS } from '../../../core/measures/foreign-definitions.ts';
import { type ErrorReason, type Outcome, outcomeOf } from '../../../core/run/record.ts';
import type { MeasureResult, ResultFile } from '../../../core/run/result.ts';
import type { Clock, Unit } from '../../../core/run/statistic.ts';
import { ownValue } from '../../../core/text/nearest-names.ts';
import { ImportRefusal, printable, type ImportNotes } from '../import-notes.ts';
import type { StatedResult } from '../importer.ts';
import { csvRows } from '../reading/csv.ts';
import { Fields, isObject } from '../reading/fields.ts';
import {
  limitsText,
  percentileNames,
  readStatistics,
  statedDistribution,
  statedGoodput,
  statedScalar,
} from '../stated/stated-measures.ts';
import { aiperfReason } from './records.ts';

/** Which measure a metric of AIPerf is. */
interface AiperfMeasure {
  readonly measure: string;
  /** With tokens of the server's usage; AIPerf's own count changes it. */
  readonly definition: string;
  /** AIPerf counts the tokens in it with its tokenizer, unless configured to use the server's. */
  readonly ownTokens: boolean;
  readonly clock: Clock;
  /** Whether the failed requests are among the values, as infinite: AIPerf's percentiles are then values themselves. */
  readonly withFailed?: boolean;
  /** Of what there is a value, if not of each ok request: of each gap between chunks, or of failed requests as well. */
  readonly valuesOf?: 'gaps' | 'all_requests';
}

const is = (measure: string, definition: string, clock: Clock = 'sent'): AiperfMeasure => ({
  measure,
  definition,
  ownTokens: false,
  clock,
});
const counting = (measure: string, definition: string): AiperfMeasure => ({
  ...is(measure, definition),
  ownTokens: true,
});

const withFailed = (measure: AiperfMeasure): AiperfMeasure => ({ ...measure, withFailed: true });

/** AIPerf's metrics with a value per request that have the definition of one of our measures. */
const DISTRIBUTIONS: Readonly<Record<string, AiperfMeasure>> = {
  request_latency: is('request_latency', 'sent_to_last_content_chunk'),
  time_to_first_token: is('time_to_first_token', 'sent_to_first_content_chunk'),
  time_to_second_token: is('time_to_second_token', 'first_to_second_content_chunk'),
  inter_token_latency: counting('inter_token_latency', 'per_request_mean_from_usage'),
  inter_chunk_latency: { ...is('inter_chunk_latency', 'gap_between_content_chunks'), valuesOf: 'gaps' },
  decode_duration: is('decode_duration', 'first_to_last_content_chunk'),
  credit_to_start_latency: { ...is('schedule_delay', 'due_to_sent', 'due'), valuesOf: 'all_requests' },
  input_sequence_length: counting('input_sequence_length', 'usage_prompt_tokens'),
  output_sequence_length: counting('output_sequence_length', 'usage_completion_tokens'),
  output_token_count: counting('output_token_count', 'usage_completion_minus_reasoning_tokens'),
  reasoning_token_count: counting('reasoning_token_count', 'usage_reasoning_tokens'),
  output_token_throughput_per_user: counting('output_token_throughput_per_user', 'inverse_inter_token_latency'),
  prefill_throughput_per_user: counting('prefill_throughput_per_user', 'input_tokens_over_time_to_first_token'),
  e2e_output_token_throughput: counting('e2e_output_token_throughput', 'output_tokens_over_request_latency'),
  adj_request_latency: withFailed(is('request_latency', 'sent_to_last_content_chunk')),
  adj_time_to_first_token: withFailed(is('time_to_first_token', 'sent_to_first_content_chunk')),
  adj_inter_token_latency: withFailed(counting('inter_token_latency', 'per_request_mean_from_usage')),
  // After AIPerf's own counts, so that without records the server's is used.
  usage_prompt_tokens: is('input_sequence_length', 'usage_prompt_tokens'),
  usage_completion_tokens: is('output_sequence_length', 'usage_completion_tokens'),
  usage_reasoning_tokens: is('reasoning_token_count', 'usage_reasoning_tokens'),
};

/** AIPerf's metrics of the whole run that have the definition of one of our measures. */
const SCALARS: Readonly<Record<string, AiperfMeasure>> = {
  request_throughput: is('request_throughput', 'ok_requests_over_window'),
  output_token_throughput: counting('output_token_throughput', 'ok_output_tokens_over_window'),
  input_token_throughput: counting('input_token_throughput', 'ok_input_tokens_over_window'),
  total_token_throughput: counting('total_token_throughput', 'ok_input_and_output_tokens_over_window'),
};

/**
 * Metrics that are known and not taken: counts and sums reported elsewhere, and what records or server metrics report
 * better.
 */
const PASSED_OVER: readonly RegExp[] = [
  /^(http_req|stream|replay|network|credit|spec_decode|usage|total|overall|effective|active|adj|tokens_in_flight|osl_mismatch)(_|$)/,
  /^(nvidia|amd|gpu|energy|average_gpu|output_tps|output_tokens_per_joule|performance_per|goodput_per)(_|$)/,
  /^(min_request|max_response)_timestamp$/,
  /^(completed_)?request_count$/,
  /^(error_request_count|request_error_rate|error_isl|benchmark_duration)$/,
  /^(time_to_first_output_token|network_rtt|thinking_efficiency|context_overflow_count)$/,
];

function isPassedOver(tag: string): boolean {
  return PASSED_OVER.some((pattern) => pattern.test(tag));
}

/** AIPerf's units: what to multiply with, and the base unit; null when there is none of ours. */
function baseUnit(unit: string): { readonly unit: Unit; readonly scale: number } | null {
  return Object.hasOwn(UNITS, unit) ? (UNITS[unit] ?? null) : null;
}

const UNITS: Readonly<Record<string, { readonly unit: Unit; readonly scale: number }>> = {
  ns: { unit: 'seconds', scale: 1e-9 },
  us: { unit: 'seconds', scale: 1e-6 },
  ms: { unit: 'seconds', scale: 1e-3 },
  s: { unit: 'seconds', scale: 1 },
  sec: { unit: 'seconds', scale: 1 },
  tokens: { unit: 'tokens', scale: 1 },
  requests: { unit: 'requests', scale: 1 },
  ratio: { unit: 'ratio', scale: 1 },
  '%': { unit: 'ratio', scale: 0.01 },
  'requests/sec': { unit: 'requests_per_second', scale: 1 },
  'tokens/sec': { unit: 'tokens_per_second', scale: 1 },
  'tokens/sec/user': { unit: 'tokens_per_second', scale: 1 },
};

/** Members of the summary that are no metrics. */
const NO_METRICS = [
  'schema_version',
  'aiperf_version',
  'benchmark_id',
  'start_time',
  'end_time',
  'was_cancelled',
  'is_complete',
  'input_config',
  'run_info',
  'telemetry_data',
  'error_summary',
  'warmup_metrics',
  'branch_stats',
  'runtime_submission_invalid_reasons',
  'filename',
  'telemetry_stats',
];

/** Gaps: AIPerf's t-digest of them. Delays: it takes them on another clock than the times in its records. */
const LOOSE: Readonly<Record<string, number>> = { inter_chunk_latency: 2e-3, schedule_delay: 1e-3 };

export interface StatedSummaryOptions {
  /** Whether AIPerf was configured to use the server's count of tokens. */
  readonly serverTokens: boolean;
  /** Relative rounding of the figures (of a CSV). */
  readonly rounding: number;
}

/** What the summary (`profile_export_aiperf.json`, or the CSV in its form) contains, in base units. */
export function statedSummary(summary: Fields, notes: ImportNotes, options: StatedSummaryOptions): StatedResult {
  const measures = summary.names
    .filter((tag) => !NO_METRICS.includes(tag) && !GOOD_REQUESTS.includes(tag))
    .flatMap((tag) => measureOf(tag, summary, notes, options));
  const failures = failuresOf(summary, notes);
  const ok = scalarOf(summary, 'request_count');
  measures.push(...statedGoodRequests(summary, notes, options));
  return {
    window_seconds: scalarOf(summary, 'benchmark_duration', (unit) => baseUnit(unit)?.scale ?? 1),
    requests: { ok, ...failures.requests },
    errors: failures.errors,
    measures,
    tolerance: ({ measure }) => Math.max(options.rounding, ownValue(LOOSE, measure) ?? 1e-6),
  };
}

function scalarOf(summary: Fields, tag: string, scale: (unit: string) => number = () => 1): number | null {
  const metric = summary.has(tag) ? summary.object(tag) : null;
  const value = metric?.amount('avg') ?? null;
  return value === null ? null : value * scale(metric?.text('unit') ?? '');
}

function measureOf(tag: string, summary: Fields, notes: ImportNotes, options: StatedSummaryOptions): MeasureResult[] {
  const raw = summary.raw(tag);
  if (!isObject(raw) || !('unit' in raw)) {
    notes.notUnderstood(tag);
    return [];
  }
  // A row of N/A: there was nothing to measure.
  if (Object.keys(raw).length === 1 && (own(DISTRIBUTIONS, tag) ?? own(SCALARS, tag)) !== null) return [];
  const metric = new Fields(raw, notes, `${tag}.`);
  const unit = baseUnit(metric.text('unit') ?? '');
  const known = own(DISTRIBUTIONS, tag) ?? own(SCALARS, tag);
  if (known === null) {
    if (!isPassedOver(tag)) notes.notUnderstood(tag);
    return [];
  }
  if (unit === null) {
    notes.notUnderstood(`${tag}.unit`);
    return [];
  }
  const identity: AiperfMeasure & { population?: 'all' } = { ...known, definition: definitionOf(known, options) };
  if (own(SCALARS, tag) !== null) {
    const value = metric.number('avg');
    const definition = isOverWindow(tag, value, summary, options)
      ? identity.definition
      : overWallTime(identity.definition);
    return [statedScalar({ ...identity, definition }, value, unit.scale)];
  }
  const isWithFailed = known.withFailed === true;
  const counted = metric.count('count');
  const n = counted ?? (isWithFailed || known.valuesOf === 'gaps' ? null : scalarOf(summary, 'request_count'));
  if (known.valuesOf === 'all_requests' && hasFailed(summary)) {
    const ok = scalarOf(summary, 'request_count');
    if (counted === null || ok === null) {
      notes.add(`${tag} is not used: the file does not report whether failed requests are in it`);
      return [];
    }
    if (counted > ok) identity.population = 'all';
  }
  const stated = isWithFailed
    ? ({ ...identity, population: 'all', definition: nearestRank(identity.definition) } as const)
    : identity;
  return [
    statedDistribution(
      stated,
      readStatistics((name) => metric.number(name), STATISTICS, n),
      unit.scale,
    ),
  ];
}

/** AIPerf has no p99.9 and leaves it out. */
const STATISTICS = { mean: 'avg', std: 'std', min: 'min', max: 'max', percentiles: percentileNames() };

const hasFailed = (summary: Fields): boolean => (scalarOf(summary, 'error_request_count') ?? 0) > 0;

/** Goodput and what it is made of. */
const GOOD_REQUESTS = ['goodput', 'request_goodput', 'good_request_count', 'good_request_fraction'];

/** What AIPerf reports of the requests that kept the limits of `--goodput`; nothing when there were none. */
function statedGoodRequests(summary: Fields, notes: ImportNotes, options: StatedSummaryOptions): MeasureResult[] {
  const rate = scalarOf(summary, 'goodput') ?? scalarOf(summary, 'request_goodput');
  const count = scalarOf(summary, 'good_request_count');
  const share = scalarOf(summary, 'good_request_fraction', (unit) => baseUnit(unit)?.scale ?? 1);
  if ([rate, count, share].every((value) => value === null)) return [];
  const limits = goodputLimits(summary.object('input_config'));
  if (limits === null) notes.add('the limits of the goodput are not reported');
  const text = limits === null ? '[limits not reported]' : limitsText(limits);
  const over = isOverWindow('goodput', rate, summary, options) ? 'window' : 'wall_time';
  return [
    ...(count === null
      ? []
      : [statedScalar({ measure: 'good_request_count', definition: `good_requests${text}`, unit: 'requests' }, count)]),
    ...statedGoodput([rate, over], [share, 'ok_and_errors'], text),
  ];
}

/** `{tag: limit}` in the metric's own unit, where versions of the configuration have it. */
function goodputLimits(config: Fields | null): Fields | null {
  return config?.object('input')?.object('goodput') ?? config?.object('goodput') ?? config?.object('slos') ?? null;
}

/** The rounding of a figure in a CSV, which has two decimals. */
const HALF_A_CSV_DIGIT = 0.005;

/** What is divided by the time in each throughput. */
const AMOUNTS: Readonly<Record<string, readonly string[]>> = {
  request_throughput: ['request_count'],
  output_token_throughput: ['total_osl'],
  input_token_throughput: ['total_isl'],
  total_token_throughput: ['total_isl', 'total_osl'],
  goodput: ['good_request_count'],
};

/**
 * Whether a throughput is over `benchmark_duration`, from the first request to the last response, as AIPerf's
 * documentation states. Version 0.13.0 divides by the time of the whole phase, which is longer.
 */
function isOverWindow(tag: string, value: number | null, summary: Fields, { rounding }: StatedSummaryOptions): boolean {
  const duration = scalarOf(summary, 'benchmark_duration', (unit) => baseUnit(unit)?.scale ?? 1);
  const amounts = (ownValue(AMOUNTS, tag) ?? []).map((amount) => scalarOf(summary, amount));
  if (value === null || duration === null || amounts.includes(null)) return true;
  const amount = amounts.reduce<number>((sum, each) => sum + (each ?? 0), 0);
  const rounded = rounding === 0 ? 1e-6 * amount : HALF_A_CSV_DIGIT * (value + duration);
  return Math.abs(value * duration - amount) <= rounded;
}

const overWallTime = (definition: string): string => definition.replace(/_over_window$/, '_over_wall_time');

function own<T>(table: Readonly<Record<string, T>>, tag: string): T | null {
  return Object.hasOwn(table, tag) ? (table[tag] ?? null) : null;
}

function definitionOf({ definition, ownTokens }: AiperfMeasure, { serverTokens }: StatedSummaryOptions): string {
  return ownTokens && !serverTokens ? (ownValue(TOKENIZER_DEFINITIONS, definition) ?? definition) : definition;
}

/** What failed: by kind where `error_summary` reports, else only how many. */
function failuresOf(
  summary: Fields,
  notes: ImportNotes,
): { requests: Omit<StatedResult['requests'], 'ok'>; errors: ResultFile['errors'] } {
  const list = summary.list('error_summary');
  const total = scalarOf(summary, 'error_request_count');
  const entries = (list ?? []).map((entry) => new Fields(entry, notes, 'error_summary.'));
  const counts = entries.map((error) => error.count('count'));
  if (counts.includes(null)) notes.add('reasons of errors are left out: error_summary does not count all of them');
  if (list === null || counts.includes(null)) {
    const none = total === 0 ? 0 : null;
    return { requests: { error: total, timeout: none, cancelled: none }, errors: {} };
  }
  const requests: Record<Exclude<Outcome, 'ok'>, number> = { error: 0, timeout: 0, cancelled: 0 };
  const errors: Partial<Record<ErrorReason, number>> = {};
  for (const [i, error] of entries.entries()) {
    const details = error.object('error_details');
    const count = counts[i] ?? 0;
    const reason = details === null ? 'other' : aiperfReason(details);
    errors[reason] = (errors[reason] ?? 0) + count;
    const outcome = outcomeOf(reason);
    if (outcome !== 'ok') requests[outcome] += count;
  }
  return { requests, errors };
}

/** Decimals that AIPerf and genai-perf write in their CSV. */
export const CSV_ROUNDING = 0.01;

const TITLE = /^(.*?)(?: \(([^()]*)\))?$/;

/**
 * A summary in CSV in the form of the JSON: metrics by tag with `unit` and statistics. The first table has the statistics
 * of the requests, the second one value per metric; tables of GPUs, which come after, are left out. Throws `ImportRefusal` when it has a metric twice.
 */
export function summaryOfCsv(text: string): Record<string, Record<string, string | number>> {
  const metrics = Object.create(null) as Record<string, Record<string, string | number>>;
  let columns: readonly string[] = [];
  for (const row of csvRows(text)) {
    const [title = '', ...values] = row;
    if (title === 'Metric') columns = values.map((name) => (name === 'Value' ? 'avg' : name));
    else if (title === 'Endpoint') break;
    else if (title !== '' && columns.length > 0) {
      const tag = tagOf(title);
      if (Object.hasOwn(metrics, tag)) throw new ImportRefusal(`the CSV has the metric "${printable(title)}" twice`);
      metrics[tag] = metricOf(title, columns, values);
    }
  }
  return { ...metrics };
}

function metricOf(
  title: string,
  columns: readonly string[],
  values: readonly string[],
): Record<string, string | number> {
  const unit = unitOf(title);
  const statistics = columns.flatMap((name, i) => {
    const text = (values[i] ?? '').replaceAll(',', '');
    return text === '' || Number.isNaN(Number(text)) ? [] : [[name, Number(text)] as const];
  });
  return { unit, ...Object.fromEntries(statistics) };
}

/** genai-perf writes `(per sec)`, whatever is counted. */
function unitOf(title: string): string {
  const unit = TITLE.exec(title)?.[2];
  if (unit === 'per sec') return /^request/i.test(title) ? 'requests/sec' : 'tokens/sec';
  return unit ?? (/\bcount$/i.test(title) ? 'requests' : '');
}

/** Where the title of a metric is not its tag in words. */
const TAGS: readonly (readonly [RegExp, string])[] = [
  [/^(.+)_error_adjusted$/, 'adj_$1'],
  [/^http_(?!req_)/, 'http_req_'],
  [/^total_input_sequence_length$/, 'total_isl'],
  [/^(total_)?error_input_sequence_length$/, '$1error_isl'],
  [/^total_output_sequence_length$/, 'total_osl'],
  [/^completed_requests$/, 'completed_request_count'],
  [/^goodrequestfraction$/, 'good_request_fraction'],
];

/** `Time to First Token (ms)` is `time_to_first_token`. */
function tagOf(title: string): string {
  const name = TITLE.exec(title)?.[1] ?? title;
  const words = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');
  const [pattern, tag] = TAGS.find(([each]) => each.test(words)) ?? [];
  return pattern === undefined || tag === undefined ? words : words.replace(pattern, tag);
}
