import type { ClassicHistogram } from './classic-histogram.ts';

/**
 * Observations in each bucket alone, (previous bound, bound], in the order of the bounds.
 *
 * Plain differences: negative where cumulative counts go down, which `monotonic` repairs.
 */
export function perBucket(h: ClassicHistogram): number[] {
  return h.counts.map((count, i) => (i === 0 ? count : count - (h.counts[i - 1] ?? 0)));
}
