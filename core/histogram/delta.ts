import type { ClassicHistogram } from './classic-histogram.ts';
import { sameGrid } from './grid.ts';

/** What was observed between two scrapes of one series. */
export interface HistogramDelta {
  histogram: ClassicHistogram;
  /** The series was reset in between: the difference is everything counted since then. */
  reset: boolean;
}

/**
 * The observations between two scrapes of one series of one target, `start` first.
 *
 * A reset is one of the whole histogram: when any bucket falls, all of it started at 0 again and the difference is
 * `end`. A sum that falls alone is a negative observation or rounding, no reset. A restart after which every bucket
 * passes its old count is not visible here; a changed start time is. The sum of the difference is null when either sum
 * is unknown. Null when the grids differ: their buckets are never mixed.
 */
export function histogramDelta(start: ClassicHistogram, end: ClassicHistogram): HistogramDelta | null {
  if (!sameGrid(start.bounds, end.bounds)) return null;
  if (fell(start, end)) return { histogram: end, reset: true };
  const counts = end.counts.map((count, i) => count - (start.counts[i] ?? NaN));
  const sum = start.sum === null || end.sum === null ? null : end.sum - start.sum;
  return { histogram: { bounds: end.bounds, counts, sum }, reset: false };
}

function fell(start: ClassicHistogram, end: ClassicHistogram): boolean {
  return end.counts.some((count, i) => count < (start.counts[i] ?? NaN));
}
