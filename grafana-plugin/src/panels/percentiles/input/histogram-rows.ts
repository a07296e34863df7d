import { FieldType, type DataFrame, type Field, type Labels } from '@grafana/data';
import { parseBound } from '../../../../../core/histogram/classic-histogram.ts';

/** The samples of one bucket: the series of one `le`. */
interface BucketColumn {
  bound: number;
  times: readonly number[];
  values: ReadonlyArray<number | null>;
}

/** The buckets that belong together: same query, metric and labels. */
export interface BucketGroup {
  refId: string;
  /** `__name__`, where the query has kept it. */
  metricName: string | undefined;
  /** Labels without `le` and `__name__`. */
  labels: Labels;
  /** True when `values` count one bucket only (Grafana's heatmap format), false when they are cumulative over `le`. */
  perBucket: boolean;
  stepMs: number;
  field: Field;
  columns: BucketColumn[];
}

/** Collects the number fields that carry a label `le`, grouped by query, metric and all other labels. */
export function collectBuckets(frames: readonly DataFrame[]): BucketGroup[] {
  const groups = new Map<string, BucketGroup>();
  for (const frame of frames) {
    const time = frame.fields.find((field) => field.type === FieldType.time);
    if (!time) {
      continue;
    }
    for (const field of frame.fields) {
      const bound = field.type === FieldType.number ? parseBound(field.labels?.['le'] ?? '') : null;
      if (bound !== null) {
        groupOf(groups, frame, field, time).columns.push({ bound, times: time.values, values: field.values });
      }
    }
  }
  for (const group of groups.values()) {
    group.columns.sort((a, b) => a.bound - b.bound);
  }
  return [...groups.values()];
}

function groupOf(groups: Map<string, BucketGroup>, frame: DataFrame, field: Field, time: Field): BucketGroup {
  const { le: _le, __name__: name, ...labels } = field.labels ?? {};
  const refId = frame.refId ?? '';
  const perBucket = frame.meta?.type === 'heatmap-rows';
  const key = JSON.stringify([refId, name, perBucket, Object.entries(labels).sort()]);
  let group = groups.get(key);
  if (!group) {
    group = { refId, metricName: name, labels, perBucket, stepMs: stepOf(time), field, columns: [] };
    groups.set(key, group);
  }
  return group;
}

/** Grafana's Prometheus data source writes the step into the time field; else the median distance of the samples. */
export function stepOf(time: Field<number>): number {
  if (time.config.interval) {
    return time.config.interval;
  }
  const distances = time.values.slice(1).map((value, i) => value - (time.values[i] ?? value));
  const apart = distances.filter((distance) => distance > 0).sort((a, b) => a - b);
  return apart[Math.floor(apart.length / 2)] ?? 0;
}

const RATE_FUNCTION = /\b(?:rate|irate|increase|delta|idelta|xrate|xincrease)\s*\(/;
/** Recording rules are named level:metric:operations, for example `job:x_bucket:rate1m`. */
const RATE_RULE = /:(?:i?rate|increase)\w*/;
/** Operators and functions that put several series together, so that a reset of one of them is no longer seen. */
const AGGREGATION = /\b(?:sum|avg|max|min|quantile|topk|bottomk|group)\s*(?:\(|(?:by|without)\b)/;

/** True when the expression takes rates or increases, itself or through a recording rule named so. */
export function takesRates(expression: string): boolean {
  return RATE_FUNCTION.test(expression) || RATE_RULE.test(expression);
}

/** True when every count is a whole number, as a counter of observations is. */
export function areWhole(counts: Float64Array): boolean {
  // Walking over an iterator instead of positions takes several times as long.
  for (let i = 0; i < counts.length; i++) {
    const count = counts[i] ?? NaN;
    if (count !== Math.floor(count)) {
      return false;
    }
  }
  return true;
}

/**
 * Classifies counts over time, `whole` when all of them are whole numbers. Functions and aggregations drop the metric's name, so a name that ends in `_bucket`
 * together with whole numbers means raw counters. Whole numbers that a query without rate() made are counters that
 * were added up. Everything else is taken as rates, for which nothing but an estimate is promised.
 */
export function kindOverTime(
  whole: boolean,
  metricName: string | undefined,
  expression: string | undefined
): 'counters' | 'summed' | 'rates' {
  if (!whole) {
    return 'rates';
  }
  if (metricName?.endsWith('_bucket')) {
    return 'counters';
  }
  return expression !== undefined && !takesRates(expression) ? 'summed' : 'rates';
}

/** The same for a native histogram: its frame does not name the metric, so only the query shows how it was processed. */
export function nativeKind(counts: Float64Array, expression: string | undefined): 'counters' | 'summed' | 'rates' {
  if (expression === undefined || takesRates(expression) || !areWhole(counts)) {
    return 'rates';
  }
  return AGGREGATION.test(expression) ? 'summed' : 'counters';
}

/** The samples that share one set of bounds. */
export interface HistogramRows {
  bounds: number[];
  times: readonly number[];
  /** Row by row, cumulative over the bounds. */
  counts: Float64Array;
  /** Every count is a whole number, as a counter of observations is. */
  whole: boolean;
}

/**
 * Turns a group's columns (one per bucket) into rows (one histogram per time), cumulative over the bounds. Where the set
 * of bounds changes in the range, each set becomes rows of its own: only like grids may be compared or added.
 */
export function histogramRows(group: BucketGroup): HistogramRows[] {
  const { times, columns } = align(group.columns);
  const complete = completeRows(times, columns);
  const grids = complete ? [complete] : rowsByGrid(times, columns).map((grid) => gridRows(times, columns, grid));
  if (group.perBucket) {
    for (const { counts, bounds } of grids) {
      cumulate(counts, bounds.length);
    }
  }
  return grids;
}

/** The rows when no sample is missing, as nearly always; else null. */
function completeRows(times: readonly number[], columns: readonly BucketColumn[]): HistogramRows | null {
  const width = columns.length;
  const counts = new Float64Array(times.length * width);
  let whole = true;
  for (const [column, { values }] of columns.entries()) {
    for (let row = 0, at = column; row < times.length; row++, at += width) {
      const value = values[row] ?? NaN;
      // What is missing, NaN or infinite is no number when taken from itself.
      if (value - value !== 0) {
        return null;
      }
      counts[at] = value;
      // Looked at here, where each number passes anyway.
      whole &&= value === Math.floor(value);
    }
  }
  return { bounds: columns.map(({ bound }) => bound), times, counts, whole };
}

function gridRows(times: readonly number[], columns: readonly BucketColumn[], { present, rows }: Grid): HistogramRows {
  const width = present.length;
  const counts = new Float64Array(rows.length * width);
  present.forEach((column, i) => {
    const values = columns[column]?.values ?? [];
    for (let row = 0, at = i; row < rows.length; row++, at += width) {
      counts[at] = values[rows[row] ?? 0] ?? 0;
    }
  });
  return {
    bounds: present.map((column) => columns[column]?.bound ?? NaN),
    times: rows.map((row) => times[row] ?? NaN),
    counts,
    whole: areWhole(counts),
  };
}

/** Rows in which the same columns have a value. */
interface Grid {
  present: number[];
  rows: number[];
}

/** The grids in order of their first row. */
function rowsByGrid(times: readonly number[], columns: readonly BucketColumn[]): Grid[] {
  const grids = new Map<string, Grid>();
  let current: Grid | undefined;
  const before = new Uint8Array(columns.length);
  for (let row = 0; row < times.length; row++) {
    let changed = row === 0;
    columns.forEach(({ values }, column) => {
      const isPresent = Number.isFinite(values[row] ?? NaN) ? 1 : 0;
      changed ||= before[column] !== isPresent;
      before[column] = isPresent;
    });
    if (changed) {
      const present = [...before.keys()].filter((column) => before[column] === 1);
      const key = present.join();
      current = grids.get(key) ?? { present, rows: [] };
      grids.set(key, current);
    }
    current?.rows.push(row);
  }
  return [...grids.values()].filter(({ present }) => present.length > 0);
}

/** Puts all columns on the same times. Prometheus mostly delivers them so; where it does not, the union is taken. */
function align(columns: readonly BucketColumn[]): { times: readonly number[]; columns: readonly BucketColumn[] } {
  const times = columns[0]?.times ?? [];
  const bounds = columns.map(({ bound }) => bound);
  if (columns.every((column) => sameTimes(column.times, times)) && new Set(bounds).size === bounds.length) {
    return { times, columns };
  }
  const union = [...new Set(columns.flatMap((column) => [...column.times]))].sort((a, b) => a - b);
  const position = new Map(union.map((time, i) => [time, i]));
  const joined = new Map<number, Array<number | null>>();
  for (const column of columns) {
    const values = joined.get(column.bound) ?? new Array<number | null>(union.length).fill(null);
    joined.set(column.bound, values);
    column.times.forEach((time, i) => {
      const row = position.get(time) ?? 0;
      const value = column.values[i] ?? null;
      // As in Prometheus, counts of the same bound written in two ways ("1" and "1.0") are added.
      values[row] = value === null ? (values[row] ?? null) : (values[row] ?? 0) + value;
    });
  }
  return { times: union, columns: [...joined].map(([bound, values]) => ({ bound, times: union, values })) };
}

function sameTimes(a: readonly number[], b: readonly number[]): boolean {
  if (a === b) {
    return true;
  }
  let i = a.length === b.length ? a.length : -1;
  while (i > 0 && a[i - 1] === b[i - 1]) {
    i--;
  }
  return i === 0;
}

function cumulate(counts: Float64Array, width: number): void {
  for (let row = 0; row < counts.length; row += width) {
    let total = 0;
    let lower = 0;
    for (let i = row; i < row + width; i++) {
      total += counts[i] ?? 0;
      // Subtracting neighbors of floating numbers, as the data source does, can leave a tiny negative bucket.
      counts[i] = lower = isBelow(total, lower) ? total : Math.max(total, lower);
    }
  }
}

/** Whether in most rows a count is smaller than that of a lower bound: these are no counts of one set of bounds. */
export function decreases(counts: Float64Array, width: number): boolean {
  let rows = 0;
  for (let row = 0; row < counts.length; row += width) {
    let i = row + 1;
    while (i < row + width && !isBelow(counts[i] ?? 0, counts[i - 1] ?? 0)) {
      i++;
    }
    rows += i < row + width ? 1 : 0;
  }
  // In a single one, a scrape may have come between two increments of the server.
  return rows > counts.length / width / 2;
}

/** By more than the arithmetic of rates may cost. */
function isBelow(count: number, lower: number): boolean {
  return count < lower * (1 - 1e-6);
}
