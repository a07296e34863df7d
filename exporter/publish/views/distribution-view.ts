import { ExpectedError } from '../../errors/expected-error.ts';
import type {
  DistributionName,
  Population,
  DistributionView,
  RequestColumnsView,
  RequestField,
  RequestValues,
} from '../../../core/api/run-data.ts';
import { FloatColumn } from '../../../core/stats/float-column.ts';
import {
  DISTRIBUTION_MEASURES,
  type DistributionMeasure,
  type PerRequestMeasure,
} from '../../../core/measures/measures.ts';
import type { Clock } from '../../../core/run/statistic.ts';
import { FIGURE_NAMES, figuresOf, type RequestFigures } from '../../../core/measures/request-figures.ts';
import { standingOf } from '../../../core/measures/request-columns.ts';
import { ENDLESS_WHEN_FAILED, EXACT_GAPS_LIMIT } from '../../../core/measures/summary.ts';
import type { RequestRecord } from '../../../core/run/record.ts';
import { percentile, PERCENTILE_NAMES, PERCENTILES, type PercentileName } from '../../../core/stats/percentiles.ts';

const SECONDS_PER_NS = 1e-9;

export const DISTRIBUTION_NAMES = [...new Set(DISTRIBUTION_MEASURES.map(({ measure }) => measure as DistributionName))];

/** The measure of a name from a clock, or from the one it has. Undefined when there is none. */
export function distributionMeasure(name: string, clock: Clock | null): DistributionMeasure | undefined {
  return DISTRIBUTION_MEASURES.find(({ measure, clock: own }) => measure === name && (clock ?? own) === own);
}

/** Whether failed requests can be counted as infinitely slow. */
export function hasPopulationAll({ measure }: DistributionMeasure): boolean {
  return ENDLESS_WHEN_FAILED.has(measure);
}

/** Whether a measure looks at the chunks of a request: they cost more to read than all the rest. */
export function readsChunks({ value }: DistributionMeasure): boolean {
  if (value === null) return true;
  let read = false;
  const figures = Object.fromEntries(FIGURE_NAMES.map((name) => [name, null])) as unknown as RequestFigures;
  for (const name of ['second_content_ns', 'content_chunks'] as const) {
    Object.defineProperty(figures, name, { get: () => ((read = true), null) });
  }
  value(figures);
  return read;
}

/**
 * The distribution of a measure over the requests of the measure phase, or over their gaps. Every point is exact; when
 * there are more than `points`, those at equal steps of rank stay, with both ends. Rejects with an `ExpectedError`,
 * and when the records cannot be read.
 */
export async function distributionView(
  records: AsyncIterable<RequestRecord>,
  measure: DistributionMeasure,
  population: Population,
  points: number,
): Promise<DistributionView> {
  const { sorted, infinite } = await collect(records, measure, population);
  const n = sorted.length + infinite;
  const all = infinite === 0 ? sorted : withInfinite(sorted, n);
  const { values, counts, between } = steps(sorted, points);
  return {
    measure: measure.measure as DistributionName,
    unit: measure.unit,
    definition: measure.definition,
    clock: measure.clock,
    population,
    n,
    infinite,
    shown: values.length,
    between,
    values,
    share: counts.map((count) => count / n),
    percentiles: Object.fromEntries(
      PERCENTILE_NAMES.map((name) => [name, finite(percentile(all, PERCENTILES[name]))]),
    ) as Record<PercentileName, number | null>,
  };
}

async function collect(
  records: AsyncIterable<RequestRecord>,
  measure: DistributionMeasure,
  population: Population,
): Promise<{ sorted: Float64Array; infinite: number }> {
  const column = new FloatColumn();
  let infinite = 0;
  for await (const record of records) {
    if (record.phase !== 'measure') continue;
    const standing = standingOf(record);
    if (standing === 'failed' && population === 'all') infinite += 1;
    if (standing !== 'ok') continue;
    for (const value of valuesOf(record, measure)) column.append(value);
    if (column.length > EXACT_GAPS_LIMIT) {
      throw new ExpectedError('refused', `the run has more than ${EXACT_GAPS_LIMIT} values of ${measure.measure}`);
    }
  }
  return { sorted: column.toArray().sort(), infinite };
}

function valuesOf(record: RequestRecord, measure: DistributionMeasure): readonly number[] {
  if (measure.value !== null) {
    const value = measure.value(figuresOf(record));
    return value === null ? [] : [value];
  }
  const offsets = record.chunk_offsets_ns;
  return offsets.slice(1).map((offset, i) => (offset - (offsets[i] ?? NaN)) * SECONDS_PER_NS);
}

/** Points of the step function: how many values are at most each of some values that occur. */
function steps(
  sorted: Float64Array,
  points: number,
): { values: readonly number[]; counts: readonly number[]; between: number } {
  const values: number[] = [];
  const counts: number[] = [];
  let between = 0;
  const wanted = Math.min(points, sorted.length);
  for (let i = 0; i < wanted; i++) {
    const rank = wanted === 1 ? sorted.length - 1 : Math.round((i * (sorted.length - 1)) / (wanted - 1));
    const value = sorted[rank] ?? NaN;
    if (value === values.at(-1)) continue;
    const below = firstAbove(sorted, value, counts.at(-1) ?? 0, false);
    between = Math.max(between, below - (counts.at(-1) ?? 0));
    values.push(value);
    counts.push(firstAbove(sorted, value, below, true));
  }
  return { values, counts, between };
}

/** The first index from `low` whose value is above (or, not `strictly`, at least) the given one. */
function firstAbove(sorted: Float64Array, value: number, low: number, strictly: boolean): number {
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const found = sorted[middle] ?? NaN;
    if (strictly ? found <= value : found < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function withInfinite(sorted: Float64Array, n: number): Float64Array {
  const all = new Float64Array(n).fill(Infinity);
  all.set(sorted);
  return all;
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);

const seconds = (ns: number | null): number | null => (ns === null ? null : ns / 1e9);

function measured(name: string, clock: PerRequestMeasure['clock'] = 'sent'): (record: RequestRecord) => number | null {
  const found = DISTRIBUTION_MEASURES.find((measure) => measure.measure === name && measure.clock === clock);
  if (found === undefined || found.value === null) throw new Error(`core/measures does not define ${name} (${clock})`);
  const { value } = found;
  return (record) => value(figuresOf(record));
}

const COLUMNS: { readonly [F in RequestField]: (record: RequestRecord) => RequestValues[F] } = {
  index: (r) => r.index,
  phase: (r) => r.phase,
  outcome: (r) => r.outcome,
  reason: (r) => r.reason,
  http_status: (r) => r.http_status,
  due_seconds: (r) => seconds(r.due_ns),
  sent_seconds: (r) => seconds(r.sent_ns),
  first_content_seconds: (r) => seconds(r.first_content_ns),
  last_content_seconds: (r) => seconds(r.last_content_ns),
  end_seconds: (r) => seconds(r.end_ns),
  time_to_first_token_seconds: measured('time_to_first_token'),
  time_to_first_token_from_due_seconds: measured('time_to_first_token', 'due'),
  inter_token_latency_seconds: measured('inter_token_latency'),
  request_latency_seconds: measured('request_latency'),
  request_latency_from_due_seconds: measured('request_latency', 'due'),
  schedule_delay_seconds: measured('schedule_delay', 'due'),
  connect_seconds: (r) => seconds(r.connect_ns),
  input_tokens: (r) => r.input_tokens,
  output_tokens: (r) => r.output_tokens,
  reasoning_tokens: (r) => r.reasoning_tokens,
  cached_tokens: (r) => r.cached_tokens,
  chunks: (r) => r.chunk_offsets_ns.length,
};

export const REQUEST_FIELDS = Object.keys(COLUMNS) as RequestField[];

/**
 * The requests that fit, in the order of the records, by column. When there are more than `limit`, every 2nd, 4th, 8th …
 * of them is taken, so that it takes one reading and no more memory than the response, and no value decides.
 */
export async function requestColumns(
  records: AsyncIterable<RequestRecord>,
  fits: (record: RequestRecord) => boolean,
  fields: readonly RequestField[],
  limit: number,
): Promise<RequestColumnsView> {
  let rows: RequestValues[RequestField][][] = [];
  let every = 1;
  let of = 0;
  for await (const record of records) {
    if (!fits(record)) continue;
    if (of % every === 0) {
      if (rows.length === limit) {
        rows = rows.filter((_, i) => i % 2 === 0);
        every *= 2;
      }
      if (of % every === 0) rows.push(fields.map((field) => COLUMNS[field](record)));
    }
    of += 1;
  }
  const columns = fields.map((field, i) => [field, rows.map((row) => row[i] ?? null)] as const);
  return {
    sampled: { shown: rows.length, of, every },
    columns: Object.fromEntries(columns),
  };
}
