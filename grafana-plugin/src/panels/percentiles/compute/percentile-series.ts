import type { ClassicHistogram } from '../../../../../core/histogram/classic-histogram.ts';
import { countsAt, type HistogramSeries } from '../input/histogram-series.ts';
import { type Percentile, percentilesOf } from './percentile.ts';
import { type RunningCounts, runningCounts } from './running-counts.ts';
import { automaticWindowSteps } from './window-length.ts';

/** The percentiles of a span of time. */
export interface PercentilePoint {
  /** Exclusive start of the observations; for rates the previous step. */
  startMs: number;
  endMs: number;
  /** Number of observations; null where only rates are known. */
  n: number | null;
  /** Counters began anew within the span. */
  reset: boolean;
  percentiles: Percentile[];
  /** Row of the source at which the span ends, and, for raw counters, the one at which it begins. */
  row: number;
  fromRow: number;
}

/** A histogram series with its percentiles over time and over the whole range. */
export interface PercentileSeries {
  source: HistogramSeries;
  /** In order of time; spans without observations are left out. */
  points: PercentilePoint[];
  /** Percentiles of the whole visible range; null when nothing was observed. */
  range: PercentilePoint | null;
  /** The observations of the whole visible range. */
  total: ClassicHistogram;
  /** Length of the sliding window in milliseconds; null unless the source holds raw counters. */
  windowMs: number | null;
  /** Time of the first sample when something was counted before it, which is not in `range`; else null. */
  lateMs: number | null;
  /** The observations of a point, for what is asked of few points only. */
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
  // One histogram is filled anew for every point: a thousand points of sixty buckets are not worth as many arrays.
  const scratch = { bounds, counts: new Array<number>(bounds.length).fill(0), sum: null as number | null };
  const point = (fromRow: number, row: number): PercentilePoint | null => {
    const reset = hasReset(running, fromRow, row);
    difference(running, fromRow, row, scratch);
    // Only one pair of scrapes of one process tells a sum of exactly these values.
    scratch.sum = reset || !((bounds[0] ?? NaN) > 0) || !Number.isFinite(scratch.sum) ? null : scratch.sum;
    const percentiles = percentilesOf(scratch, quantiles, source);
    const n = scratch.counts.at(-1) ?? 0;
    const [startMs, endMs] = [times[fromRow] ?? NaN, times[row] ?? NaN];
    return percentiles && { startMs, endMs, n, reset, percentiles, row, fromRow };
  };
  const histogram = (fromRow: number, row: number): ClassicHistogram => {
    const result = { bounds, counts: new Array<number>(bounds.length).fill(0), sum: null };
    difference(running, fromRow, row, result);
    return result;
  };
  const points: PercentilePoint[] = [];
  let segment = 0;
  for (let row = 1; row < times.length; row++) {
    if (running.gaps[row] === 1) {
      // After a gap the windows grow from one step on; none reaches over it.
      segment = row;
      continue;
    }
    const one = point(Math.max(segment, row - steps), row);
    if (one) {
      points.push(one);
    }
  }
  const last = times.length - 1;
  return {
    source,
    points,
    range: point(0, last),
    total: histogram(0, last),
    windowMs: steps * stepMs,
    lateMs: (countsAt(source, 0).at(-1) ?? 0) > 0 ? (times[0] ?? null) : null,
    histogramOf: ({ fromRow, row }) => histogram(fromRow, row),
  };
}

function observedPerStep({ counts }: RunningCounts, width: number): Float64Array {
  const observed = new Float64Array(Math.max(0, counts.length / width - 1));
  for (let i = 0, at = width - 1; i < observed.length; i++, at += width) {
    observed[i] = (counts[at + width] ?? 0) - (counts[at] ?? 0);
  }
  return observed;
}

function hasReset({ resetRows }: RunningCounts, fromRow: number, row: number): boolean {
  return resetRows.some((at) => fromRow < at && at <= row);
}

function difference(
  { counts, sums }: RunningCounts,
  fromRow: number,
  row: number,
  into: { counts: number[]; sum: number | null }
): void {
  const width = into.counts.length;
  const [end, start] = [row * width, fromRow * width];
  for (let i = 0; i < width; i++) {
    into.counts[i] = (counts[end + i] ?? 0) - (counts[start + i] ?? 0);
  }
  into.sum = sums && (sums[row] ?? NaN) - (sums[fromRow] ?? NaN);
}

function fromGivenCounts(source: HistogramSeries, { quantiles }: PercentileRequest): PercentileSeries {
  const { bounds, times, stepMs, trueCounts } = source;
  const histogramOf = ({ row }: { row: number }): ClassicHistogram => {
    return { bounds, counts: [...countsAt(source, row)], sum: null };
  };
  const point = (histogram: ClassicHistogram, fromRow: number, row: number): PercentilePoint | null => {
    const percentiles = percentilesOf(histogram, quantiles, source);
    const n = trueCounts ? (histogram.counts.at(-1) ?? 0) : null;
    const span = { startMs: (times[fromRow] ?? NaN) - stepMs, endMs: times[row] ?? NaN };
    return percentiles && { ...span, n, reset: false, percentiles, row, fromRow };
  };
  const points = times.map((_, row) => point(histogramOf({ row }), row, row)).filter((one) => one !== null);
  const total = { bounds, counts: totals(source), sum: null };
  const range = point(total, 0, times.length - 1);
  return { source, points, range, total, windowMs: null, lateMs: null, histogramOf };
}

/** Every rate stands for a window of the same length, so adding them weighs each observation alike. */
function totals({ counts, bounds }: HistogramSeries): number[] {
  const result = new Array<number>(bounds.length).fill(0);
  for (let i = 0; i < counts.length; i++) {
    const bucket = i % result.length;
    result[bucket] = (result[bucket] ?? 0) + (counts[i] ?? 0);
  }
  return result;
}
