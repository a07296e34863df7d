import type { ClassicHistogram } from './classic-histogram.ts';

/**
 * Number of observations: the count of the +Inf bucket.
 *
 * NaN without a +Inf bucket: the number of observations above the last bound is then unknown.
 */
export function total(h: ClassicHistogram): number {
  if (h.bounds.at(-1) !== Infinity) return NaN;
  return h.counts.at(-1) ?? NaN;
}
