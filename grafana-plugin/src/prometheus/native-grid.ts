import type { DataFrame, Field } from '@grafana/data';

/** Buckets of one histogram over time, as cells: bucket `i` held `count[i]` values in (low[i], high[i]] at `time[i]`. */
export interface Cells {
  times: readonly number[];
  lows: readonly number[];
  highs: readonly number[];
  counts: readonly number[];
}

/** The same on one grid of bounds. */
export interface NativeRows {
  bounds: number[];
  times: number[];
  /** Row by row, cumulative over the bounds. */
  counts: Float64Array;
  /** Each bound beyond the zero bucket is 2^(2^-schema) times the one below; null for custom bounds. */
  schema: number | null;
}

const MIN_SCHEMA = -4;
const MAX_SCHEMA = 8;

/**
 * Brings the cells of all times onto one grid without losing an observation: its bounds are the edges of the buckets that
 * are inside no other bucket, so that a change to a coarser schema in the range leaves the coarser one. As in Prometheus,
 * a zero bucket without negative buckets beside it reaches from 0.
 */
export function nativeRows({ times, lows, highs, counts }: Cells): NativeRows {
  const negative = highs.some((high) => high <= 0);
  const low = (i: number) => (!negative && (lows[i] ?? NaN) < 0 ? 0 : (lows[i] ?? NaN));
  const buckets = new Map<string, [low: number, high: number]>();
  for (let i = 0; i < times.length; i++) {
    buckets.set(`${lows[i]} ${highs[i]}`, [low(i), highs[i] ?? NaN]);
  }
  const distinct = [...buckets.values()];
  const edges = [...new Set([...distinct.flat(), Infinity])].sort((a, b) => a - b);
  const bounds = edges.filter((edge) => !distinct.some(([from, to]) => from < edge && edge < to));
  // The lower edge of the first bucket is not a bound of its own when it is 0 or has no end.
  if (bounds[0] === -Infinity || (bounds[0] === 0 && !highs.includes(0))) {
    bounds.shift();
  }
  // Only the first of a list of custom bounds has a bucket without a lower end.
  const schema = lows.includes(-Infinity) ? null : coarsestSchema(distinct);
  return { bounds, schema, ...fill(bounds, { times, lows, highs, counts }) };
}

function fill(bounds: readonly number[], { times, highs, counts }: Cells): { times: number[]; counts: Float64Array } {
  const rowTimes = [...new Set(times)].sort((a, b) => a - b);
  const rowOf = new Map(rowTimes.map((time, row) => [time, row]));
  const columnOf = new Map<number, number>();
  const width = bounds.length;
  const result = new Float64Array(rowTimes.length * width);
  for (let i = 0; i < times.length; i++) {
    const high = highs[i] ?? NaN;
    const column = columnOf.get(high) ?? bounds.findIndex((bound) => bound >= high);
    columnOf.set(high, column);
    const at = (rowOf.get(times[i] ?? NaN) ?? 0) * width + column;
    result[at] = (result[at] ?? 0) + (counts[i] ?? 0);
  }
  for (let i = 0; i < result.length; i++) {
    if (i % width > 0) {
      result[i] = (result[i] ?? 0) + (result[i - 1] ?? 0);
    }
  }
  return { times: rowTimes, counts: result };
}

/**
 * The schema of exponential buckets, the coarsest of several: their bounds are the whole powers of 2^(2^-s). Null for other
 * bounds; custom bounds are such powers only by chance, and then both kinds are the same buckets.
 */
function coarsestSchema(buckets: ReadonlyArray<readonly [number, number]>): number | null {
  const schemas = buckets
    .filter(([low, high]) => low > 0 || high < 0)
    .map(([low, high]) => {
      const schema = -Math.log2(Math.abs(Math.log2(high / low)));
      const power = Math.log2(Math.abs(high)) * 2 ** Math.round(schema);
      // With 0 added, -0 is 0.
      return isNearWhole(schema) && isNearWhole(power) ? Math.round(schema) + 0 : NaN;
    });
  const coarsest = Math.min(MAX_SCHEMA, ...schemas);
  return coarsest >= MIN_SCHEMA && schemas.every((schema) => schema <= MAX_SCHEMA) ? coarsest : null;
}

function isNearWhole(value: number): boolean {
  return Math.abs(value - Math.round(value)) < 1e-6;
}

/** True when the frame holds native histograms: the data source's heatmap cells with edges of their own. */
export function isNativeHistogram(frame: DataFrame): boolean {
  return frame.meta?.type === 'heatmap-cells' && column(frame, 'yMax') !== undefined;
}

/** The buckets of a native histogram; null where the frame has none. */
export function nativeCells(frame: DataFrame): NativeCells | null {
  const [time, high, count] = ['xMax', 'yMax', 'count'].map((name) => column(frame, name));
  // Where the query keeps the metric's name, some versions of the data source call the column yMin by it.
  const low = column(frame, 'yMin') ?? frame.fields[1];
  return time && low && high && count ? { time, low, high, count } : null;
}

interface NativeCells {
  time: Field<number>;
  /** Has the labels. */
  low: Field<number>;
  high: Field<number>;
  count: Field<number>;
}

function column(frame: DataFrame, name: string) {
  return frame.fields.find((field) => field.name === name);
}
