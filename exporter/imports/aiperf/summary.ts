import { ownValue } from '../../../core/text/own-value.ts';
import { nearestRank, TOKENIZER_DEFINITIONS } from '../../../core/measures/foreign-definitions.ts';
import { outcomeOf } from '../../../core/measures/error-reasons.ts';
import type { ErrorReason, Outcome } from '../../../core/run/record.ts';
import type { MeasureResult, ResultFile } from '../../../core/run/result.ts';
import { Fields, isObject } from '../reading/fields.ts';
import type { ImportNotes } from '../import-notes.ts';
import type { StatedResult } from '../importer.ts';
import {
  limitsText,
  percentileNames,
  readStatistics,
  statedDistribution,
  statedGoodput,
  statedScalar,
} from '../stated/stated-measures.ts';
import { baseUnit, DISTRIBUTIONS, isPassedOver, SCALARS } from './metric-table.ts';
import type { AiperfMeasure } from './metric-table.ts';
import { aiperfReason } from './reasons.ts';

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
  if (list === null) {
    const none = total === 0 ? 0 : null;
    return { requests: { error: total, timeout: none, cancelled: none }, errors: {} };
  }
  const requests: Record<Exclude<Outcome, 'ok'>, number> = { error: 0, timeout: 0, cancelled: 0 };
  const errors: Partial<Record<ErrorReason, number>> = {};
  for (const entry of list) {
    const error = new Fields(entry, notes, 'error_summary.');
    const details = error.object('error_details');
    const count = error.count('count') ?? 0;
    const reason = details === null ? 'other' : aiperfReason(details);
    errors[reason] = (errors[reason] ?? 0) + count;
    const outcome = outcomeOf(reason);
    if (outcome !== 'ok') requests[outcome] += count;
  }
  return { requests, errors };
}
