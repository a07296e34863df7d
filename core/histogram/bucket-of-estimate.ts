import { inOrder } from './classic-histogram.ts';
import type { ClassicHistogram } from './classic-histogram.ts';
import { lowerEdge, upperEdge } from './edges.ts';
import { monotonic } from './monotonic.ts';
import { rankBucket } from './rank-bucket.ts';
import { total } from './total.ts';

/** A bucket (low, high] in the family's unit. */
export interface BucketOfEstimate {
  low: number;
  high: number;
  /** High is +Infinity: only "> low" is known. */
  overflow: boolean;
}

/**
 * The bucket into which Prometheus' rank q * total falls, hence the one of `histogramQuantile`'s estimate.
 *
 * For counts made by `rate()` or `increase()`, for which no bound holds: extrapolation changes the proportions of the
 * buckets. For true counts use `quantileBounds`. Null when no such bucket exists: q outside 0 to 1, no +Inf bucket, a
 * total that is 0 or not finite, a count around it that is NaN, or q = 0 with an empty first bucket.
 */
export function bucketOfEstimate(q: number, h: ClassicHistogram): BucketOfEstimate | null {
  if (!(q >= 0 && q <= 1)) return null;
  return monotonicBucket(q, monotonic(inOrder(h)).histogram);
}

/** The same for bounds in ascending order, counts that never go down and 0 <= q <= 1. */
export function monotonicBucket(q: number, h: ClassicHistogram): BucketOfEstimate | null {
  const { bounds, counts } = h;
  const observations = total(h);
  if (!(observations > 0) || observations === Infinity) return null;
  const rank = q * observations;
  const index = rankBucket(counts, rank);
  const before = index === 0 ? 0 : (counts[index - 1] ?? NaN);
  if (!((counts[index] ?? NaN) > before)) return null;
  const high = upperEdge(bounds, index);
  return { low: lowerEdge(bounds, index), high, overflow: high === Infinity };
}
