import { inOrder } from './classic-histogram.ts';
import type { ClassicHistogram } from './classic-histogram.ts';
import { monotonic } from './monotonic.ts';
import { rankBucket } from './rank-bucket.ts';

/**
 * Prometheus' `histogram_quantile` on classic buckets, to the last digit (`BucketQuantile`, promql/quantile.go).
 *
 * The rank q * total is interpolated linearly inside its bucket, from 0 in the first one. Special cases: q NaN, no
 * +Inf bucket, fewer than two buckets or no observations: NaN; q < 0: -Infinity; q > 1: +Infinity; rank in the +Inf
 * bucket: the largest finite bound; rank in a first bucket whose bound is <= 0: that bound; q = 0 with an empty first
 * bucket: NaN. Counts that go down are repaired first, see `monotonic`. It is an estimate; `quantileBounds` says how
 * far it can be from the truth.
 */
export function histogramQuantile(q: number, h: ClassicHistogram): number {
  if (Number.isNaN(q)) return NaN;
  if (q < 0) return -Infinity;
  if (q > 1) return Infinity;
  const { bounds, counts } = monotonic(inOrder(h)).histogram;
  return monotonicQuantile(q, bounds, counts);
}

/**
 * The same for bounds in ascending order, counts that never go down and 0 <= q <= 1: the inputs are not checked again.
 */
export function monotonicQuantile(q: number, bounds: readonly number[], counts: readonly number[]): number {
  const last = bounds.length - 1;
  if (last < 1 || bounds[last] !== Infinity) return NaN;
  const observations = counts[last] ?? NaN;
  if (observations === 0) return NaN;
  const rank = q * observations;
  return quantileInBucket(rank, rankBucket(counts, rank), bounds, counts);
}

/** The same for a rank whose bucket is known. */
export function quantileInBucket(
  rank: number,
  index: number,
  bounds: readonly number[],
  counts: ArrayLike<number>,
): number {
  if (index === bounds.length - 1) return bounds[index - 1] ?? NaN;
  const upper = bounds[index] ?? NaN;
  if (index === 0 && upper <= 0) return upper;
  const lower = index === 0 ? 0 : (bounds[index - 1] ?? NaN);
  const before = index === 0 ? 0 : (counts[index - 1] ?? NaN);
  return lower + (upper - lower) * ((rank - before) / ((counts[index] ?? NaN) - before));
}
