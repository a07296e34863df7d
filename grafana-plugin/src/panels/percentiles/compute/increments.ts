import { histogramDelta } from '../../../../../core/histogram/delta.ts';
import type { HistogramSeries } from '../input/histogram-series.ts';

/** What was counted between two neighbouring samples of raw counters. */
export interface Increment {
  startMs: number;
  endMs: number;
  /** Observations <= each bound. */
  counts: readonly number[];
  /** The counters began anew in between: what was counted just before that is lost. */
  reset: boolean;
  /** Samples are missing in between: the counts are true, but nobody knows when they happened. */
  gap: boolean;
}

/** A sample is missing when two neighbours are further apart than this many steps. */
const GAP_STEPS = 1.5;

/** Differences of neighbouring samples; a series of n samples has n - 1, fewer when counts are not usable. */
export function increments(series: HistogramSeries): Increment[] {
  const { bounds, samples, stepMs } = series;
  const result: Increment[] = [];
  for (let i = 1; i < samples.length; i++) {
    const [start, end] = [samples[i - 1], samples[i]];
    if (!start || !end) {
      continue;
    }
    const delta = histogramDelta(
      { bounds, counts: start.counts, sum: null },
      { bounds, counts: end.counts, sum: null }
    );
    if (delta) {
      const gap = end.timeMs - start.timeMs > GAP_STEPS * stepMs;
      const { counts } = delta.histogram;
      result.push({ startMs: start.timeMs, endMs: end.timeMs, counts, reset: delta.reset, gap });
    }
  }
  return result;
}
