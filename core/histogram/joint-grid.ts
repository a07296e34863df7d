import { lowerEdge, perBucket, upperEdge, type ClassicHistogram } from './classic-histogram.ts';

/**
 * Histograms of the same quantity on one grid, without any error: with the bounds of all, except those inside a bucket of one
 * of them that is not empty, whose observations they would divide. An empty bucket can be divided anywhere: of native
 * histograms the bounds of the empty ones are often not known. Bounds ascend and end in +Infinity.
 */
export function onJointGrid(histograms: readonly ClassicHistogram[]): ClassicHistogram[] {
  const bounds = new Set(histograms.flatMap((histogram) => histogram.bounds));
  for (const histogram of histograms) {
    for (const [i, count] of perBucket(histogram).entries()) {
      if (count === 0) continue;
      const [low, high] = [lowerEdge(histogram.bounds, i), upperEdge(histogram.bounds, i)];
      for (const bound of bounds) if (low < bound && bound < high) bounds.delete(bound);
    }
  }
  const grid = [...bounds].sort((a, b) => a - b);
  return histograms.map((histogram) => ({ bounds: grid, counts: countsAt(histogram, grid), sum: histogram.sum }));
}

/** Cumulative counts at bounds that lie in no bucket with observations. */
function countsAt({ bounds, counts }: ClassicHistogram, grid: readonly number[]): number[] {
  let next = 0;
  return grid.map((bound) => {
    while (next < bounds.length && (bounds[next] ?? NaN) <= bound) next += 1;
    return next === 0 ? 0 : (counts[next - 1] ?? NaN);
  });
}
