import { inOrder, lowerEdge, upperEdge, total, perBucket, type ClassicHistogram } from './classic-histogram.ts';
import { monotonic, rankBucket } from './quantile.ts';

/** A bucket (low, high] in the family's unit. */
interface BucketOfEstimate {
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

/** Relative rounding error granted to a sum: that of a running sum up to a million times as large as this one. */
const SUM_ROUNDING = 1e-9;

/** Relative rounding error of one float64 addition, with room for the second of a difference. */
const ADDITION_ROUNDING = 2 ** -52;

/** What a sum allows for single values. */
export interface SumLimits {
  /** False when no values with these buckets can have this sum. */
  readonly feasible: boolean;
  /** Smallest value that the observation of this rank, which lies in this bucket, can have; -Infinity = no limit. */
  smallest(bucket: number, rank: number): number;
  /** Largest value that the observation of this rank, which lies in this bucket, can have. */
  largest(bucket: number, rank: number): number;
}

/**
 * Limits of order statistics from the sum of the observed values, which all exceed the first bound or 0.
 *
 * With bucket edges a, b, counts n and r' the rank within bucket j: the values from r' upward are at least the r'-th and
 * all others at least their lower edge, so it is at most (S - sum of n_i a_i, i != j, - (r' - 1) a_j) / (n_j - r' + 1);
 * and mirrored, at least (S - sum of n_i b_i, i != j, - (n_j - r') b_j) / r', where no infinite b takes part. A margin
 * for rounding is granted, so that the limits never exclude the truth.
 *
 * `sumError` is how far the sum can be from that of the values beyond that margin. `h` must be in order and monotonic. Null when
 * the sum is not finite, when observations lie in a bucket without a lower edge (then they may be negative), or when the sum is
 * that of the middles of the buckets: Ray makes sums of these (of twice the last bound for what lies beyond it).
 */
function sumLimits(h: ClassicHistogram, sum: number, sumError = 0): SumLimits | null {
  const { bounds, counts } = h;
  if (!Number.isFinite(sum)) return null;
  let least = 0;
  let most = 0;
  let middles = 0;
  let inOverflow = 0;
  /** What is rounded: the magnitudes of the edges, and of values below 0, which cancel others in the sum. */
  let [magnitudeOfLeast, magnitudeOfMost, belowZero] = [0, 0, 0];
  for (const [i, count] of perBucket(h).entries()) {
    if (count === 0) continue;
    const lower = lowerEdge(bounds, i);
    const upper = upperEdge(bounds, i);
    if (lower === -Infinity) return null;
    least += count * lower;
    magnitudeOfLeast += count * Math.abs(lower);
    belowZero += count * Math.max(0, -lower);
    middles += count * (upper === Infinity ? 2 * lower : (lower + upper) / 2);
    if (upper === Infinity) inOverflow = count;
    else {
      most += count * upper;
      magnitudeOfMost += count * Math.abs(upper);
    }
  }
  const rounding = Math.max(SUM_ROUNDING, total(h) * ADDITION_ROUNDING);
  const magnitude = Math.abs(sum) + 2 * belowZero;
  if (Math.abs(sum - middles) <= rounding * (magnitude + Math.abs(middles)) + sumError) return null;
  const aboveLeast = sum - least + rounding * (magnitude + magnitudeOfLeast) + sumError;
  const belowMost = most - sum + rounding * (magnitude + magnitudeOfMost) + sumError;

  return {
    feasible: aboveLeast >= 0 && (inOverflow > 0 || belowMost >= 0),
    smallest(bucket, rank) {
      const rankInBucket = rank - (counts[bucket - 1] ?? 0);
      const upper = upperEdge(bounds, bucket);
      if (inOverflow === 0) return upper - belowMost / rankInBucket;
      return upper === Infinity && rankInBucket === inOverflow ? -belowMost / rankInBucket : -Infinity;
    },
    largest(bucket, rank) {
      return lowerEdge(bounds, bucket) + aboveLeast / ((counts[bucket] ?? NaN) - rank + 1);
    },
  };
}

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

/** A share of all observations, 0 to 1. */
export interface FractionBelow {
  /** Share that is certain to be at or below x. */
  low: number;
  /** Prometheus' `histogram_fraction(-Inf, x, …)`: linear inside the bucket of x. */
  estimate: number;
  /** Share that can lie at or below x. */
  high: number;
}

/**
 * Share of the observations that are <= x.
 *
 * Exact (low = high) when x is a bound; else x lies inside a bucket, and `low` leaves all of that bucket out, `high`
 * takes all of it. Below 0 the share is 0 when the first bound is above 0 (values are assumed to be >= 0, as
 * Prometheus assumes). `low` and `high` hold for true counts only. The estimate follows `BucketFraction`
 * (promql/quantile.go, Prometheus 3), which does not repair counts that go down; `low` and `high` do.
 *
 * Null when x is NaN, when there is no +Inf bucket, or when the total is 0 or any count is not finite.
 */
export function fractionBelow(x: number, h: ClassicHistogram): FractionBelow | null {
  const raw = inOrder(h);
  const { bounds, counts } = raw;
  const n = total(raw);
  if (Number.isNaN(x) || !(n > 0) || !counts.every(Number.isFinite)) return null;
  const estimate = Math.min(estimatedRank(x, bounds, counts), n) / n;
  const repaired = monotonic(raw, 0).histogram;
  const index = bounds.findIndex((bound) => bound >= x);
  const atUpper = repaired.counts[index] ?? NaN;
  const atLower = index === 0 ? 0 : (repaired.counts[index - 1] ?? NaN);
  const all = total(repaired);
  if (x === upperEdge(bounds, index)) return { low: atUpper / all, estimate, high: atUpper / all };
  if (x < lowerEdge(bounds, index) || x === -Infinity) return { low: 0, estimate, high: 0 };
  return { low: atLower / all, estimate, high: atUpper / all };
}

/** Number of observations below x when those of each bucket are spread evenly over it. */
function estimatedRank(x: number, bounds: readonly number[], counts: readonly number[]): number {
  let before = 0;
  for (const [i, count] of counts.entries()) {
    const lower = lowerEdge(bounds, i);
    const upper = upperEdge(bounds, i);
    if (lower >= x) return before;
    if (upper > x) return lower === -Infinity ? count : before + ((count - before) * (x - lower)) / (upper - lower);
    before = count;
  }
  return before;
}
