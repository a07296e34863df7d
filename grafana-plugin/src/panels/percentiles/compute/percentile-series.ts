import type { ClassicHistogram } from '../../../../../core/histogram/classic-histogram.ts';
import type { HistogramSeries } from '../input/histogram-series.ts';
import { counterWindows } from './counter-windows.ts';
import { increments } from './increments.ts';
import { type Percentile, percentilesOf } from './percentile.ts';
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
}

/** A histogram series with its percentiles over time and over the whole range. */
export interface PercentileSeries {
  source: HistogramSeries;
  /** In order of time; spans without observations are left out. */
  points: PercentilePoint[];
  /** Percentiles of the whole visible range; null when nothing was observed. */
  range: PercentilePoint | null;
  /** Length of the sliding window in milliseconds; null unless the source holds raw counters. */
  windowMs: number | null;
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
  const steps = increments(source);
  const length =
    windowMs === null
      ? automaticWindowSteps(steps, quantiles)
      : Math.max(1, Math.round(windowMs / Math.max(1, source.stepMs)));
  const point = (startMs: number, endMs: number, counts: number[], reset: boolean): PercentilePoint | null => {
    const percentiles = percentilesOf({ bounds: source.bounds, counts, sum: null }, quantiles, true);
    return percentiles && { startMs, endMs, n: counts.at(-1) ?? 0, reset, percentiles };
  };
  const points = counterWindows(steps, length).map((w) => point(w.startMs, w.endMs, w.counts, w.reset));
  const reset = steps.some((step) => step.reset);
  const all = sum(steps.map(({ counts }) => counts));
  const range = point(steps[0]?.startMs ?? NaN, steps.at(-1)?.endMs ?? NaN, all, reset);
  return { source, points: points.filter((p) => p !== null), range, windowMs: length * source.stepMs };
}

function fromGivenCounts(source: HistogramSeries, { quantiles }: PercentileRequest): PercentileSeries {
  const { bounds, samples, stepMs, trueCounts } = source;
  const point = (startMs: number, endMs: number, counts: number[]): PercentilePoint | null => {
    const histogram: ClassicHistogram = { bounds, counts, sum: null };
    const percentiles = percentilesOf(histogram, quantiles, trueCounts);
    return percentiles && { startMs, endMs, n: trueCounts ? (counts.at(-1) ?? 0) : null, reset: false, percentiles };
  };
  const points = samples.map(({ timeMs, counts }) => point(timeMs - stepMs, timeMs, counts));
  // Every rate stands for a window of the same length, so adding them weighs each observation alike.
  const all = sum(samples.map(({ counts }) => counts));
  const range = point((samples[0]?.timeMs ?? NaN) - stepMs, samples.at(-1)?.timeMs ?? NaN, all);
  return { source, points: points.filter((p) => p !== null), range, windowMs: null };
}

function sum(rows: ReadonlyArray<readonly number[]>): number[] {
  const totals = new Array<number>(rows[0]?.length ?? 0).fill(0);
  for (const row of rows) {
    row.forEach((count, i) => (totals[i] = (totals[i] ?? 0) + count));
  }
  return totals;
}
