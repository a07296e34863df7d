import { fractionBelow } from '../../../../../core/histogram/bounds.ts';
import type { ClassicHistogram } from '../../../../../core/histogram/classic-histogram.ts';
import { monotonicPercentile } from '../../../../../core/histogram/quantile.ts';
import { countsAt, type HistogramSeries } from '../input/histogram-series.ts';
import { INFEASIBLE_SUM, NARROWED, OVERFLOW, PercentilePoints, type PercentilePoint } from './percentile-points.ts';
import { percentilesOf } from './percentile.ts';

/** Raw counters that go on through resets, so that the observations between any two rows are a plain difference. */
interface RunningCounts {
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
function runningCounts(series: HistogramSeries): RunningCounts {
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
function isOrdered({ unordered }: RunningCounts, fromRow: number, row: number, n: number): boolean {
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

/** A histogram series with its percentiles over time and over the whole range. */
export interface PercentileSeries {
  source: HistogramSeries;
  /** In order of time; spans without observations are left out. */
  points: PercentilePoints;
  /** Percentiles of the whole visible range; null when nothing was observed. */
  range: PercentilePoint | null;
  /** The observations of the whole visible range. */
  total: ClassicHistogram;
  /** Length of the sliding window in milliseconds; null unless the source holds raw counters. */
  windowMs: number | null;
  /** Time of the first sample when something was counted before it, which is not in `range`; else null. */
  lateMs: number | null;
  /** The observations of a point, for values that are only computed for a few points. */
  histogramOf: (point: PercentilePoint) => ClassicHistogram;
}

export interface PercentileRequest {
  /** Ascending, each between 0 and 1. */
  quantiles: readonly number[];
  /** Length of the window over raw counters in milliseconds; null = automatic. */
  windowMs: number | null;
}

export function percentileSeries(source: HistogramSeries, request: PercentileRequest): PercentileSeries {
  return source.kind === 'counters' ? fromCounters(source, request) : fromGivenCounts(source, request);
}

function fromCounters(source: HistogramSeries, { quantiles, windowMs }: PercentileRequest): PercentileSeries {
  const { bounds, times, stepMs } = source;
  const running = runningCounts(source);
  const steps =
    windowMs === null
      ? automaticWindowSteps(observedPerStep(running, bounds.length), quantiles)
      : Math.max(1, Math.round(windowMs / Math.max(1, stepMs)));
  const add = windowAdder(source, running);
  const points = new PercentilePoints(times.length, quantiles);
  let segment = 0;
  for (let row = 1; row < times.length; row++) {
    if (running.gaps[row] === 1) {
      // After a gap the windows grow from one step on; none reaches over it.
      segment = row;
    } else {
      add(points, Math.max(segment, row - steps), row);
    }
  }
  const last = times.length - 1;
  const range = new PercentilePoints(1, quantiles);
  add(range, 0, last);
  return {
    source,
    points,
    range: range.at(0) ?? null,
    total: between(running, bounds, 0, last),
    windowMs: steps * stepMs,
    lateMs: (countsAt(source, 0).at(-1) ?? 0) > 0 ? (times[0] ?? null) : null,
    histogramOf: ({ fromRow, row }) => between(running, bounds, fromRow, row),
  };
}

function observedPerStep({ counts }: RunningCounts, width: number): Float64Array {
  const observed = new Float64Array(Math.max(0, counts.length / width - 1));
  for (let i = 0, at = width - 1; i < observed.length; i++, at += width) {
    observed[i] = (counts[at + width] ?? 0) - (counts[at] ?? 0);
  }
  return observed;
}

/** Adds the percentiles of what was observed between two rows to `points`; nothing when that is nothing. */
function windowAdder(
  source: HistogramSeries,
  running: RunningCounts
): (points: PercentilePoints, fromRow: number, row: number) => void {
  const { bounds, times, exponential } = source;
  const width = bounds.length;
  const { counts, sums, resetRows } = running;
  // Reused for every point, to avoid allocating an array for each of a thousand points.
  const scratch = new Float64Array(width);
  const found = { estimate: 0, low: 0, high: 0, overflow: false };
  return (points, fromRow, row) => {
    const [end, start] = [row * width, fromRow * width];
    const n = (counts[end + width - 1] ?? 0) - (counts[start + width - 1] ?? 0);
    if (!(n > 0)) {
      return;
    }
    const reset = resetRows.some((at) => fromRow < at && at <= row);
    const at = points.length;
    if (sums === null && !exponential && isOrdered(running, fromRow, row, n)) {
      for (let i = 0; i < width; i++) {
        scratch[i] = (counts[end + i] ?? 0) - (counts[start + i] ?? 0);
      }
      for (const { quantile, estimate, low, high, flags } of points.columns) {
        monotonicPercentile(quantile, bounds, scratch, found);
        if (Number.isNaN(found.estimate)) {
          return;
        }
        estimate[at] = found.estimate;
        low[at] = found.low;
        high[at] = found.high;
        flags[at] = found.overflow ? OVERFLOW : 0;
      }
    } else {
      const histogram = between(running, bounds, fromRow, row);
      // The sum covers exactly these values only between two scrapes of one process.
      const useSum = !reset && (bounds[0] ?? NaN) > 0 && Number.isFinite(histogram.sum);
      if (!write(points, useSum ? histogram : { ...histogram, sum: null }, source)) {
        return;
      }
    }
    points.take(times[fromRow] ?? NaN, times[row] ?? NaN, n, reset, row, fromRow);
  };
}

/** What was observed between two rows. */
function between(
  { counts, sums }: RunningCounts,
  bounds: readonly number[],
  fromRow: number,
  row: number
): ClassicHistogram {
  const [end, start] = [row * bounds.length, fromRow * bounds.length];
  return {
    bounds,
    counts: bounds.map((_, i) => (counts[end + i] ?? 0) - (counts[start + i] ?? 0)),
    sum: sums && (sums[row] ?? NaN) - (sums[fromRow] ?? NaN),
  };
}

/** Writes the percentiles of a histogram into the columns, at the next point; false when there are none. */
function write(
  { columns, length: at }: PercentilePoints,
  histogram: ClassicHistogram,
  source: HistogramSeries
): boolean {
  const percentiles = percentilesOf(
    histogram,
    columns.map(({ quantile }) => quantile),
    source
  );
  percentiles?.forEach(({ estimate, low, high, overflow, narrowed, infeasibleSum }, index) => {
    const column = columns[index];
    if (column) {
      column.estimate[at] = estimate;
      column.low[at] = low;
      column.high[at] = high;
      column.flags[at] = (overflow ? OVERFLOW : 0) + (narrowed ? NARROWED : 0) + (infeasibleSum ? INFEASIBLE_SUM : 0);
    }
  });
  return percentiles !== null;
}

function fromGivenCounts(source: HistogramSeries, { quantiles }: PercentileRequest): PercentileSeries {
  const { bounds, times, stepMs, trueCounts } = source;
  const histogramOf = ({ row }: { row: number }): ClassicHistogram => {
    return { bounds, counts: [...countsAt(source, row)], sum: null };
  };
  const add = (points: PercentilePoints, histogram: ClassicHistogram, fromRow: number, row: number) => {
    if (write(points, histogram, source)) {
      const n = trueCounts ? (histogram.counts.at(-1) ?? 0) : null;
      points.take((times[fromRow] ?? NaN) - stepMs, times[row] ?? NaN, n, false, row, fromRow);
    }
  };
  const points = new PercentilePoints(times.length, quantiles);
  times.forEach((_, row) => add(points, histogramOf({ row }), row, row));
  const total = { bounds, counts: totals(source), sum: null };
  const range = new PercentilePoints(1, quantiles);
  add(range, total, 0, times.length - 1);
  return { source, points, range: range.at(0) ?? null, total, windowMs: null, lateMs: null, histogramOf };
}

/** All rates cover windows of equal length, so adding them weighs each observation equally. */
function totals({ counts, bounds }: HistogramSeries): number[] {
  const result = new Array<number>(bounds.length).fill(0);
  for (let i = 0; i < counts.length; i++) {
    const bucket = i % result.length;
    result[bucket] = (result[bucket] ?? 0) + (counts[i] ?? 0);
  }
  return result;
}

const STEPS = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 40, 60, 90, 120, 180, 240, 360, 480, 720];

/** A window never takes more than this share of the samples, so that a course over time remains. */
const MAX_SHARE = 1 / 6;

/**
 * Chooses over how many steps counts are taken together, from the number of observations in each step. Long enough that
 * (1) a window mostly holds a new scrape, also where the panel's step is shorter than the scrape interval, and (2) it
 * holds about as many observations as the highest percentile needs to differ from the maximum: 100 for p99.
 */
function automaticWindowSteps(observed: Float64Array, quantiles: readonly number[]): number {
  const busy = [...observed.keys()].filter((i) => (observed[i] ?? 0) > 0);
  const distances = busy.slice(1).map((position, i) => position - (busy[i] ?? position));
  const typical = quantileOf(
    busy.map((i) => observed[i] ?? 0),
    0.5
  );
  if (typical === undefined) {
    return 1;
  }
  const wanted = 1 / (1 - Math.min(0.999, Math.max(0, ...quantiles)));
  const forObservations = (wanted / typical) * (quantileOf(distances, 0.5) ?? 1);
  const needed = Math.max(quantileOf(distances, 0.9) ?? 1, forObservations);
  const largest = Math.max(1, Math.floor(observed.length * MAX_SHARE));
  return Math.min(largest, STEPS.find((steps) => steps >= needed - 1e-9) ?? largest);
}

function quantileOf(values: readonly number[], q: number): number | undefined {
  return [...values].sort((a, b) => a - b)[Math.floor(q * (values.length - 1))];
}

/** The share of the observations that met a service level objective, 0 to 1. */
export interface SloShare {
  /** Linear inside the bucket of the objective, as Prometheus' `histogram_fraction`. */
  estimate: number;
  /** Bounds of the share; equal when the objective is a bucket bound. */
  low: number;
  high: number;
  /** Over rates nothing is promised: the shares are about these. */
  certain: boolean;
}

/** The share of the whole range at or below the objective; null when nothing was observed. */
export function sloShare({ total, source }: Pick<PercentileSeries, 'total' | 'source'>, slo: number): SloShare | null {
  const share = fractionBelow(slo, total);
  return share && { ...share, certain: source.trueCounts };
}
