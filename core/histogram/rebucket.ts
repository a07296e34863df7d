import { inOrder } from './classic-histogram.ts';
import type { ClassicHistogram } from './classic-histogram.ts';
import { sameBound } from './grid.ts';

/**
 * The same observations on another grid, without any error.
 *
 * Possible only when every new bound is a bound of `h` (up to a relative 1e-9): else null, because the observations
 * within a bucket cannot be separated. A new grid without +Infinity loses what lies above its last bound, as any such
 * grid.
 */
export function rebucket(h: ClassicHistogram, bounds: readonly number[]): ClassicHistogram | null {
  const fine = inOrder(h);
  const grid = [...new Set(bounds)].sort((a, b) => (a < b ? -1 : 1));
  const counts: number[] = [];
  for (const bound of grid) {
    const index = fine.bounds.findIndex((candidate) => sameBound(candidate, bound));
    const count = fine.counts[index];
    if (count === undefined) return null;
    counts.push(count);
  }
  return { bounds: grid, counts, sum: h.sum };
}
