import { lowerEdge, upperEdge } from './edges.ts';
import { quantileInBucket } from './quantile.ts';
import { rankBucket } from './rank-bucket.ts';

/** What the buckets determine about one percentile, in the family's unit. */
export interface BucketPercentile {
  /** As `histogramQuantile`. */
  estimate: number;
  /** As `quantileBounds` without the sum. */
  low: number;
  high: number;
  /** The estimate's rank lies in the overflow bucket, as `bucketOfEstimate` says. */
  overflow: boolean;
}

/**
 * `histogramQuantile`, `quantileBounds` without the sum and the overflow of `bucketOfEstimate` in one go, written into
 * `into`: for tens of thousands of histograms, where repeated passes over each would take most of the time.
 *
 * `bounds` must ascend and end in +Infinity after at least one finite one, `counts` be whole, never go down and end
 * above 0, and 0 <= q <= 1. The estimate is NaN for q = 0 with an empty first bucket.
 */
export function monotonicPercentile(
  q: number,
  bounds: readonly number[],
  counts: ArrayLike<number>,
  into: BucketPercentile,
): void {
  const last = bounds.length - 1;
  const n = counts[last] ?? NaN;
  const rank = q * n;
  const index = rankBucket(counts, rank);
  // (n - 1)q + 1 would round away the last bits that the percentile itself keeps.
  const k = Math.max(0, (n - 1) * q);
  const lowBucket = bucketNear(counts, index, Math.min(n, Math.floor(k) + 1));
  const highBucket = bucketNear(counts, index, Math.min(n, Math.ceil(k) + 1));
  const isEmpty = !((counts[index] ?? NaN) > (index === 0 ? 0 : (counts[index - 1] ?? NaN)));
  into.estimate = quantileInBucket(rank, index, bounds, counts);
  into.low = lowerEdge(bounds, isEmpty ? lowBucket : Math.min(lowBucket, index));
  into.high = upperEdge(bounds, isEmpty ? highBucket : Math.max(highBucket, index));
  into.overflow = index === last;
}

/** `rankBucket`, looking first at a bucket where the rank is likely to be. */
function bucketNear(counts: ArrayLike<number>, likely: number, rank: number): number {
  const isThere = (counts[likely] ?? NaN) >= rank && (likely === 0 || (counts[likely - 1] ?? NaN) < rank);
  return isThere ? likely : rankBucket(counts, rank);
}
