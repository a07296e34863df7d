import type { HistogramSeries } from '../input/histogram-series.ts';

/** Raw counters that go on through resets, so that the observations between any two rows are a plain difference. */
export interface RunningCounts {
  /** Row by row, as in the series. */
  counts: Float64Array;
  /** Running sums; null when the series has none. */
  sums: Float64Array | null;
  /** Rows before which the counters were reset: observations since the sample before the reset are lost. */
  resetRows: readonly number[];
  /** 1 where samples are missing since the row before: the counts are true, but their time is unknown. */
  gaps: Uint8Array;
  /** Up to each row, the number of rows whose counts decrease from a lower to a higher bound. */
  unordered: Uint32Array;
}

/** A sample is missing when two neighbors are further apart than this many steps. */
const GAP_STEPS = 1.5;

/**
 * Takes the resets out of raw counters. As in core's `histogramDelta`, a reset is one of the whole histogram: when any
 * bucket falls, or the sum of values that are >= 0, all of it began at 0 again.
 */
export function runningCounts(series: HistogramSeries): RunningCounts {
  const { times, stepMs, bounds, sums: given } = series;
  const width = bounds.length;
  const resetRows: number[] = [];
  const gaps = new Uint8Array(times.length);
  const sumFalls = given !== null && (bounds[0] ?? NaN) > 0 ? given : null;
  const unordered = new Uint32Array(times.length);
  for (let row = 1; row < times.length; row++) {
    gaps[row] = (times[row] ?? NaN) - (times[row - 1] ?? NaN) > GAP_STEPS * stepMs ? 1 : 0;
    const change = changeOf(series.counts, row * width, width);
    const isReset = change === FELL || (sumFalls?.[row] ?? NaN) < (sumFalls?.[row - 1] ?? NaN);
    unordered[row] = (unordered[row - 1] ?? 0) + (isReset || change !== ORDERED ? 1 : 0);
    if (isReset) {
      resetRows.push(row);
    }
  }
  const anyReset = resetRows.length > 0;
  const counts = anyReset ? continued(series.counts, width, resetRows) : series.counts;
  const sums = given && anyReset ? continued(given, 1, resetRows) : given;
  return { counts, sums, resetRows, gaps, unordered };
}

/**
 * True when what was counted between two rows, `n` observations in all, goes up with the bounds: then nothing of it has to
 * be repaired. Adding up rows of which each does so keeps it so.
 */
export function isOrdered({ unordered }: RunningCounts, fromRow: number, row: number, n: number): boolean {
  // Beyond 2^40 neighboring whole numbers are what Prometheus takes for rounding noise.
  return unordered[row] === unordered[fromRow] && n < 2 ** 39;
}

const ORDERED = 0;
const UNORDERED = 1;
const FELL = 2;

/** What happened to the counts since the row before. */
function changeOf(counts: Float64Array, at: number, width: number): number {
  let before = 0;
  let result = ORDERED;
  for (let i = at; i < at + width; i++) {
    const rise = (counts[i] ?? NaN) - (counts[i - width] ?? NaN);
    if (rise < 0) {
      return FELL;
    }
    if (!(rise >= before)) {
      result = UNORDERED;
    }
    before = rise;
  }
  return result;
}

/** After a reset the counters go on from where they were. */
function continued(values: Float64Array, width: number, resetRows: readonly number[]): Float64Array {
  const result = Float64Array.from(values);
  for (const row of resetRows) {
    const start = row * width;
    const reached = result.slice(start - width, start);
    for (let at = start; at < result.length; at++) {
      result[at] = (result[at] ?? 0) + (reached[(at - start) % width] ?? 0);
    }
  }
  return result;
}
