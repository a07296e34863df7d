import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  distributionOf,
  scalarOf,
  type DistributionResult,
  type MeasureResult,
  type ResultFile,
} from '../../core/run/result.ts';
import type { RunFile } from '../../core/run/run.ts';
import { summarize, type Summary } from '../../core/stats/percentiles.ts';
import type { StepStatistics } from '../../core/measures/in-flight.ts';
import { countOf, FAILED_OUTCOMES, type RequestRecord } from '../../core/run/record.ts';
import { AIPERF_METRICS, type AiperfMetric } from './aiperf-metrics.ts';
import { AiperfTotals, type TokenSum } from './aiperf-totals.ts';
import { ExpectedError } from '../errors/expected-error.ts';
import { replaceFile, replaceJson, besideOutput, type TemporaryFor } from '../files/durable-file.ts';

/** AIPerf's percentiles; it has no p99.9. */
const AIPERF_PERCENTILES = ['p1', 'p5', 'p10', 'p25', 'p50', 'p75', 'p90', 'p95', 'p99'] as const;

/** A metric of `profile_export_aiperf.json`: a scalar has only `avg`. What is not known is left out. */
export type AiperfStatistics = { readonly unit: string } & Readonly<
  Partial<Record<(typeof AIPERF_PERCENTILES)[number] | 'avg' | 'min' | 'max' | 'std' | 'count' | 'sum', number>>
>;

/** A metric with the header that it has in the CSV. */
interface NamedStatistics {
  readonly tag: string;
  readonly header: string;
  readonly statistics: AiperfStatistics;
}

/**
 * Every metric of AIPerf's summary that a run can report. Those with a definition of ours take their statistics from
 * result.json. Throughputs are per second of the window from the first request to the end of the last, AIPerf's
 * documented `benchmark_duration`; AIPerf 0.13.0 itself divides by its phase, which begins some 40 ms earlier.
 */
function aiperfMetrics(run: RunFile, result: ResultFile, totals: AiperfTotals): NamedStatistics[] {
  return [
    ...AIPERF_METRICS.flatMap((metric) => named(metric, statisticsOf(metric, result, totals))),
    ...named(ERROR_ISL, fromSummary(ERROR_ISL.unit, summarize(totals.errorInputs))),
    ...scalars(result, totals),
    ...(run.comparison_key.load?.mode === 'trace' ? sendLags(totals) : []),
    ...sweepLines(result, totals),
  ];
}

/** Of failed requests, which are in no other metric. */
const ERROR_ISL = { tag: 'error_isl', header: 'Error Input Sequence Length', unit: 'tokens' };

/** A replayed schedule of which more than a hundredth was sent later than that (ms) counts as degraded in AIPerf. */
const DEGRADED_LAG_MS = 500;

function sendLags(totals: AiperfTotals): NamedStatistics[] {
  const percentiles = summarize(totals.sendLags_ms)?.percentiles;
  if (percentiles === undefined) return [];
  const { p99 } = percentiles;
  const one = (tag: string, header: string, unit: string, avg: number): NamedStatistics => ({
    ...{ tag: `replay_sched_${tag}`, header: `Replay Schedule ${header}` },
    statistics: { unit, avg },
  });
  return [
    ...(['p50', 'p90', 'p99'] as const).map((name) => one(`lag_${name}`, `Lag ${name}`, 'ms', percentiles[name])),
    one('degraded', 'Degraded', 'count', Number(p99 > DEGRADED_LAG_MS)),
  ];
}

function named(
  { tag, header }: Pick<AiperfMetric, 'tag' | 'header'>,
  statistics: AiperfStatistics | null,
): NamedStatistics[] {
  return statistics === null ? [] : [{ tag, header, statistics }];
}

function statisticsOf(metric: AiperfMetric, result: ResultFile, totals: AiperfTotals): AiperfStatistics | null {
  const { measure, unit } = metric;
  if (measure === null) return fromSummary(unit, totals.summary(metric));
  const found = distributionOf(result.measures, measure.name, 'ok', measure.clock);
  return found === undefined ? null : fromResult(unit, measure.scale, found);
}

function fromSummary(unit: string, summary: Summary | null): AiperfStatistics | null {
  if (summary === null) return null;
  const { n, mean, std, min, max, percentiles } = summary;
  const quantiles = Object.fromEntries(AIPERF_PERCENTILES.map((name) => [name, percentiles[name]]));
  return { unit, avg: mean, ...quantiles, min, max, std, count: n, sum: mean * n };
}

function fromResult(unit: string, scale: number, result: DistributionResult): AiperfStatistics | null {
  const { n, mean, std, min, max, percentiles } = result;
  if (n === 0 || mean === null || std === null || min === null || max === null) return null;
  const quantiles = AIPERF_PERCENTILES.flatMap((name) => {
    const { value } = percentiles[name];
    return value === null ? [] : [[name, value * scale] as const];
  });
  return {
    unit,
    avg: mean * scale,
    ...Object.fromEntries(quantiles),
    min: min * scale,
    max: max * scale,
    std: std * scale,
    ...(n === null ? {} : { count: n, sum: mean * scale * n }),
  };
}

function scalars(result: ResultFile, totals: AiperfTotals): NamedStatistics[] {
  const { ok } = result.requests;
  const failed = countOf(result.requests, FAILED_OUTCOMES);
  const measure = (name: string): number | null => scalarOf(result.measures, name)?.value ?? null;
  const usage = (...sums: readonly TokenSum[]): number | null =>
    ok === 0 ? null : sums.reduce<number | null>((all, sum) => plus(all, totals.tokens(sum)), 0);
  const rate = measure('error_ratio');
  // AIPerf reports it when both prompt and answer were counted.
  const counted = ({ measure: name, ...m }: MeasureResult): boolean =>
    name === 'usage_completion_tokens_diff_ratio' && m.kind === 'distribution' && m.n !== 0;
  const discrepancies = result.measures.some(counted) ? measure('usage_discrepancy_count') : null;
  const rows: readonly (readonly [tag: string, header: string, unit: string, value: number | null])[] = [
    ['request_throughput', 'Request Throughput', 'requests/sec', measure('request_throughput')],
    ['request_count', 'Request Count', 'requests', ok],
    [
      'completed_request_count',
      'Completed Requests (Success + Error)',
      'requests',
      countOf(result.requests, ['ok', ...FAILED_OUTCOMES]),
    ],
    ['error_request_count', 'Error Request Count', 'requests', failed === 0 ? null : failed],
    ['request_error_rate', 'Request Error Rate', '%', percent(rate)],
    ['good_request_count', 'Good Request Count', 'requests', measure('good_request_count')],
    ['good_request_fraction', 'Good Request Fraction', 'ratio', measure('good_request_ratio')],
    ['goodput', 'Goodput', 'requests/sec', measure('goodput')],
    ['benchmark_duration', 'Benchmark Duration', 'sec', result.window.seconds],
    ['output_token_throughput', 'Output Token Throughput', 'tokens/sec', measure('output_token_throughput')],
    ['input_token_throughput', 'Input Token Throughput', 'tokens/sec', measure('input_token_throughput')],
    ['total_token_throughput', 'Total Token Throughput', 'tokens/sec', measure('total_token_throughput')],
    ['total_isl', 'Total Input Sequence Length', 'tokens', totals.tokens('input')],
    ['total_osl', 'Total Output Sequence Length', 'tokens', totals.tokens('output')],
    ['total_output_tokens', 'Total Output Tokens', 'tokens', totals.tokens('plain')],
    ['total_reasoning_tokens', 'Total Reasoning Tokens', 'tokens', totals.tokens('reasoning') || null],
    ['overall_thinking_efficiency', 'Overall Thinking Efficiency', 'ratio', thinking(totals)],
    ['osl_mismatch_count', 'OSL Mismatch Count', 'requests', measure('output_length_mismatch_count')],
    ['usage_discrepancy_count', 'Usage Discrepancy Count', 'requests', discrepancies],
    ['total_error_isl', 'Total Error Input Sequence Length', 'tokens', total(totals.errorInputs)],
    ['total_usage_prompt_tokens', 'Total Usage Prompt Tokens', 'tokens', usage('usagePrompt')],
    ['total_usage_completion_tokens', 'Total Usage Completion Tokens', 'tokens', usage('usageCompletion')],
    ['total_usage_reasoning_tokens', 'Total Usage Reasoning Tokens', 'tokens', usage('usageReasoning') || null],
    ['total_usage_prompt_cache_read_tokens', 'Total Usage Prompt Cache Read Tokens', 'tokens', usage('usageCached')],
    [
      'overall_usage_prompt_cache_read_pct',
      'Overall Usage Prompt Cache Read %',
      '%',
      percent(measure('cached_input_ratio')),
    ],
    ['total_usage_total_tokens', 'Total Usage Total Tokens', 'tokens', usage('usagePrompt', 'usageCompletion')],
  ];
  return rows.flatMap(([tag, header, unit, value]) =>
    value === null ? [] : [{ tag, header, statistics: { unit, avg: value } }],
  );
}

/** Reasoning tokens over the others; AIPerf has it only of responses that reason. */
function thinking(totals: AiperfTotals): number | null {
  const [reasoning, plain] = [totals.tokens('reasoning'), totals.tokens('plain')];
  return !reasoning || !plain ? null : reasoning / plain;
}

const percent = (ratio: number | null): number | null => (ratio === null ? null : ratio * 100);

/** Null of nothing. */
function total(values: Float64Array): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0);
}

function plus(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

const CONCURRENCIES = [
  ['all', 'effective_concurrency', 'Effective Concurrency'],
  ['prefill', 'effective_prefill_concurrency', 'Effective Prefill Concurrency'],
  ['decode', 'effective_decode_concurrency', 'Effective Decode Concurrency'],
] as const;

function sweepLines({ window }: ResultFile, totals: AiperfTotals): NamedStatistics[] {
  const edges = totals.window;
  if (edges === null || window.seconds === null) return [];
  const concurrencies = CONCURRENCIES.flatMap(([part, tag, header]) => {
    const found = totals.concurrency(part, edges.from_ns, edges.to_ns);
    return found === null ? [] : [{ tag, header, statistics: stepStatistics('requests', found) }];
  });
  const others = totals
    .sweeps(edges.from_ns, edges.to_ns)
    .map(({ tag, header, unit, statistics }) => ({ tag, header, statistics: stepStatistics(unit, statistics) }));
  return [...concurrencies, ...others];
}

function stepStatistics(unit: string, { mean, std, min, max, quantile }: StepStatistics): AiperfStatistics {
  const [p50, p90, p95, p99] = [quantile(0.5), quantile(0.9), quantile(0.95), quantile(0.99)];
  return { unit, avg: mean, p50, p90, p95, p99, min, max, std };
}

/** The content of `profile_export_aiperf.json`: AIPerf's keys of schema 1.4, and `llmbench_version` for its own. */
function aiperfSummary(
  run: RunFile,
  result: ResultFile,
  metrics: readonly NamedStatistics[],
  errors: AiperfTotals['errors'],
): Record<string, unknown> {
  const measured = run.phases.find(({ phase }) => phase === 'measure');
  return {
    schema_version: '1.4',
    llmbench_version: run.tool.version,
    benchmark_id: run.run_id,
    ...Object.fromEntries(metrics.map(({ tag, statistics }) => [tag, statistics])),
    input_config: inputConfig(run),
    run_info: { benchmark_id: run.run_id, trial: run.repeat ?? 0, run_label: run.scenario },
    was_cancelled: result.status === 'aborted',
    is_complete: result.status === 'completed',
    error_summary: errors.map(({ error, count }) => ({ error_details: error, count })),
    start_time: offsetTime(measured?.start ?? result.window.start),
    end_time: offsetTime(measured?.end ?? result.window.end),
  };
}

/** The requested load, in AIPerf's terms, as far as the run contains it. */
function inputConfig({ target, comparison_key: key }: RunFile): unknown {
  const { load, stop } = key;
  const { request_count: requests, benchmark_duration_seconds: duration } = stop;
  return {
    models: { items: [{ name: key.model }] },
    endpoint: { urls: [target.origin], type: key.endpoint_type, streaming: key.streaming, extra: key.sampling },
    phases: [
      {
        name: 'profiling',
        kind: 'profiling',
        ...(load === null ? {} : { type: load.mode }),
        ...(typeof load?.concurrency === 'number' ? { concurrency: load.concurrency } : {}),
        ...(typeof load?.request_rate === 'number' ? { request_rate: load.request_rate } : {}),
        ...(requests === null ? {} : { requests }),
        ...(duration === null ? {} : { duration }),
      },
    ],
  };
}

/** RFC 3339 with `+00:00` for `Z`, which Python before 3.11 cannot read. */
function offsetTime(instant: string | null): string | null {
  return instant === null ? null : instant.replace(/Z$/, '+00:00');
}

/** The folder of a run directory that AIPerf's files are written to. */
export const AIPERF_FOLDER = 'aiperf';

/**
 * Writes the summary of a finished run as AIPerf 0.13.0 would have: `profile_export_aiperf.json` and
 * `profile_export_aiperf.csv` in `folder`, which is created when it is missing. Throws an `ExpectedError` when the run
 * has no wall time, and file system errors.
 */
export async function writeAiperf(
  folder: string,
  run: RunFile,
  result: ResultFile,
  records: AsyncIterable<RequestRecord>,
  temporaryFor: TemporaryFor = besideOutput,
): Promise<void> {
  if (run.start === null)
    throw new ExpectedError('failed', `run ${run.run_id} has no start time, which AIPerf's files require`);
  await mkdir(folder, { recursive: true });
  const totals = new AiperfTotals();
  for await (const record of records) totals.add(record);
  const metrics = aiperfMetrics(run, result, totals);
  const summary = aiperfSummary(run, result, metrics, totals.errors);
  await replaceJson(join(folder, 'profile_export_aiperf.json'), summary, temporaryFor);
  await replaceFile(join(folder, 'profile_export_aiperf.csv'), aiperfCsv(metrics), temporaryFor);
}

const COLUMNS = ['avg', 'min', 'max', 'sum', ...AIPERF_PERCENTILES, 'std'] as const;

/** Units that AIPerf omits, because the metric's name contains them. */
const UNNAMED_UNITS: ReadonlySet<string> = new Set(['requests', 'count']);

/**
 * The content of `profile_export_aiperf.csv`: the metrics with statistics, an empty line, those that are one number; by
 * tag, two decimals, lines that end with CR LF. What is not known is an empty cell.
 */
function aiperfCsv(metrics: readonly NamedStatistics[]): string {
  const sorted = metrics.toSorted((a, b) => (a.tag < b.tag ? -1 : 1));
  const distributions = sorted.filter(({ statistics }) => 'max' in statistics);
  const scalars = sorted.filter(({ statistics }) => !('max' in statistics));
  const rows = [
    ['Metric', ...COLUMNS],
    ...distributions.map((metric) => [title(metric), ...COLUMNS.map((column) => cell(metric.statistics[column]))]),
    [],
    ['Metric', 'Value'],
    ...scalars.map((metric) => [title(metric), cell(metric.statistics.avg)]),
  ];
  return rows.map((row) => `${row.join(',')}\r\n`).join('');
}

function title({ header, statistics: { unit } }: NamedStatistics): string {
  return UNNAMED_UNITS.has(unit) ? header : `${header} (${unit})`;
}

function cell(value: number | undefined): string {
  return value === undefined ? '' : value.toFixed(2);
}
