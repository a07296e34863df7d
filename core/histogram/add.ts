import type { ClassicHistogram } from './classic-histogram.ts';
import { sameGrid } from './grid.ts';

/**
 * The histogram of all observations of several histograms.
 *
 * Only like grids are added: null when any two differ, and when there is nothing to add. The sum is null when any of
 * the sums is unknown. The bounds are those of the first histogram.
 */
export function addHistograms(hs: Iterable<ClassicHistogram>): ClassicHistogram | null {
  let result: { bounds: readonly number[]; counts: number[]; sum: number | null } | null = null;
  for (const h of hs) {
    if (result === null) {
      result = { bounds: h.bounds, counts: [...h.counts], sum: h.sum };
      continue;
    }
    if (!sameGrid(result.bounds, h.bounds)) return null;
    for (const [i, count] of h.counts.entries()) result.counts[i] = (result.counts[i] ?? 0) + count;
    result.sum = result.sum === null || h.sum === null ? null : result.sum + h.sum;
  }
  return result;
}
