import type { ClassicHistogram } from './classic-histogram.ts';

/**
 * Number of observations: the count of the +Inf bucket.
 *
 * NaN when there is no +Inf bucket: then nobody knows how many observations lie above the last bound.
 */
export function total(h: ClassicHistogram): number {
  if (h.bounds.at(-1) !== Infinity) return NaN;
  return h.counts.at(-1) ?? NaN;
}
