import type { ClassicHistogram } from './classic-histogram.ts';
import { sameGrid } from './grid.ts';

/** What was observed between two scrapes of one series. */
export interface HistogramDelta {
  histogram: ClassicHistogram;
  /** The series began anew in between: the difference is all that was counted since then. */
  reset: boolean;
}

/**
 * The observations between two scrapes of one series of one target, `start` first.
 *
 * A reset is seen for the whole histogram: when any bucket falls, or the sum of values that are >= 0 (taken to be so
 * when the first bound is above 0), all of it began at 0 again and the difference is `end`. A restart after which
 * every bucket passes its old count leaves no trace here; a changed start time tells. The sum of the difference is
 * null when either sum is unknown. Null when the grids differ: their buckets are never mixed.
 */
export function histogramDelta(start: ClassicHistogram, end: ClassicHistogram): HistogramDelta | null {
  if (!sameGrid(start.bounds, end.bounds)) return null;
  if (fell(start, end)) return { histogram: end, reset: true };
  const counts = end.counts.map((count, i) => count - (start.counts[i] ?? NaN));
  const sum = start.sum === null || end.sum === null ? null : end.sum - start.sum;
  return { histogram: { bounds: end.bounds, counts, sum }, reset: false };
}

function fell(start: ClassicHistogram, end: ClassicHistogram): boolean {
  if (end.counts.some((count, i) => count < (start.counts[i] ?? NaN))) return true;
  const valuesAreNotNegative = (end.bounds[0] ?? NaN) > 0;
  return valuesAreNotNegative && start.sum !== null && end.sum !== null && end.sum < start.sum;
}
