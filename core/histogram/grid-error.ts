import { lowerEdge, upperEdge } from './classic-histogram.ts';

/**
 * Worst relative error, |estimate - value| / value, of a percentile read from a grid, when its true value lies
 * somewhere in from .. to and the estimate can be anywhere in the bucket of the true value.
 *
 * `bounds` ascending, 0 <= `from` <= `to`, all in one unit. +Infinity when the range reaches into the overflow bucket,
 * past the last bound, or to 0; NaN when the range is not one.
 */
export function gridError(bounds: readonly number[], from: number, to: number): number {
  if (!(from >= 0 && from <= to)) return NaN;
  if (from === 0) return Infinity;
  if (to > (bounds.at(-1) ?? -Infinity)) return Infinity;
  let worst = 0;
  for (const index of bounds.keys()) {
    const lower = lowerEdge(bounds, index);
    const upper = upperEdge(bounds, index);
    if (upper < from || lower >= to) continue;
    const smallest = Math.max(lower, from);
    const largest = Math.min(upper, to);
    worst = Math.max(worst, (upper - smallest) / smallest, (largest - lower) / largest);
  }
  return worst;
}
