import { bucketOfEstimate, monotonicBucket } from './bucket-of-estimate.ts';
import type { BucketOfEstimate } from './bucket-of-estimate.ts';
import { inOrder } from './classic-histogram.ts';
import type { ClassicHistogram } from './classic-histogram.ts';
import { lowerEdge, upperEdge } from './edges.ts';
import { monotonic } from './monotonic.ts';
import { rankBucket } from './rank-bucket.ts';
import { sumLimits } from './sum-limits.ts';
import { total } from './total.ts';

/** The interval (low, high] that holds a percentile, in the family's unit. */
export interface QuantileBounds {
  low: number;
  high: number;
  /** High is +Infinity: only "> low" is known. */
  overflow: boolean;
  /** The sum made the interval smaller than the buckets alone. */
  narrowedBySum: boolean;
  /** The sum is inconsistent with these buckets and was not used. */
  infeasibleSum: boolean;
}

/**
 * The interval that is certain to contain the q-th percentile of the observed values.
 *
 * With k = (n - 1)q it reaches from the lower edge of the bucket of the (floor(k) + 1)-th value to the upper edge of
 * the bucket of the (ceil(k) + 1)-th, joined with the bucket of Prometheus' rank q * n. So it holds for the percentile
 * that is linear between order statistics (numpy's default), for the inverse of the distribution function, and for the
 * estimate of `histogramQuantile`. The first bucket starts at 0 when its bound is above 0 (values are assumed to be >=
 * 0), else at -Infinity.
 *
 * Only for true counts: the difference of two scrapes of one target, or all that one process ever counted. For `rate()`
 * or `increase()` it does not hold; use `bucketOfEstimate` there.
 *
 * `useSum` (default false) narrows the interval to what the sum allows. Use it only when all values are >= 0 and sum
 * and buckets come from one pair of scrapes without a reset. A narrowed interval holds for the percentile itself, not
 * for the estimate, which may turn out to be impossible. `sumError` (default 0) is how far rounding can have moved the
 * sum, in the family's unit: the difference of two large running sums needs it. The sum is not used when it is null or
 * not finite, when counts go down, or when observations lie in a first bucket whose bound is <= 0.
 *
 * Null when q is outside 0 to 1, when there is no +Inf bucket, or when the total is 0 or any count is not finite.
 */
export function quantileBounds(
  q: number,
  h: ClassicHistogram,
  options: { useSum?: boolean; sumError?: number } = {},
): QuantileBounds | null {
  if (!(q >= 0 && q <= 1)) return null;
  const { histogram, forced } = monotonic(inOrder(h), 0);
  if (!(total(histogram) > 0) || !histogram.counts.every(Number.isFinite)) return null;
  const estimate = bucketOfEstimate(q, histogram);
  return joined(q, histogram, estimate, options.useSum === true && !forced, options.sumError);
}

/**
 * The same for bounds in ascending order that end in +Infinity, whole counts that never go down, the last of which is
 * above 0, and 0 <= q <= 1: the inputs are not checked again.
 */
export function monotonicBounds(q: number, h: ClassicHistogram, options: { useSum?: boolean } = {}): QuantileBounds {
  return joined(q, h, monotonicBucket(q, h), options.useSum === true);
}

/** The interval of the order statistics joined with the bucket of the estimate. */
function joined(
  q: number,
  histogram: ClassicHistogram,
  estimate: BucketOfEstimate | null,
  useSum: boolean,
  sumError = 0,
): QuantileBounds {
  const { bounds, counts, sum } = histogram;
  const n = total(histogram);

  // (n - 1)q + 1 would round away the last bits that the percentile itself keeps.
  const k = Math.max(0, (n - 1) * q);
  const lowRank = Math.min(n, Math.floor(k) + 1);
  const highRank = Math.min(n, Math.ceil(k) + 1);
  const lowBucket = rankBucket(counts, lowRank);
  const highBucket = rankBucket(counts, highRank);
  const low = Math.min(lowerEdge(bounds, lowBucket), estimate?.low ?? Infinity);
  const high = Math.max(upperEdge(bounds, highBucket), estimate?.high ?? -Infinity);
  const plain = { low, high, overflow: high === Infinity, narrowedBySum: false, infeasibleSum: false };

  if (!useSum || sum === null) return plain;
  const limits = sumLimits(histogram, sum, sumError);
  if (limits === null) return plain;
  if (!limits.feasible) return { ...plain, infeasibleSum: true };
  // The inverse of the distribution function is the value of rank ceil(q * n), which lies between these two ranks.
  const narrowLow = Math.max(low, limits.smallest(lowBucket, lowRank));
  const narrowHigh = Math.min(high, limits.largest(highBucket, highRank));
  return {
    low: narrowLow,
    high: narrowHigh,
    overflow: narrowHigh === Infinity,
    narrowedBySum: narrowLow > low || narrowHigh < high,
    infeasibleSum: false,
  };
}
