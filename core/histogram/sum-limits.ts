import type { ClassicHistogram } from './classic-histogram.ts';
import { lowerEdge, upperEdge } from './edges.ts';
import { perBucket } from './per-bucket.ts';
import { total } from './total.ts';

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
export function sumLimits(h: ClassicHistogram, sum: number, sumError = 0): SumLimits | null {
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
