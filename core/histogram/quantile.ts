import { inOrder, lowerEdge, upperEdge, type ClassicHistogram } from './classic-histogram.ts';

/** Relative difference of two counts that Prometheus takes for rounding noise (`smallDeltaTolerance`). */
const NOISE = 1e-12;

/** The smallest positive normal float64. */
const MIN_NORMAL = 2 ** -1022;

/** A histogram whose counts never go down, and whether they did before. */
export interface Monotonic {
  readonly histogram: ClassicHistogram;
  /** True when a count had to be raised by more than rounding noise. */
  readonly forced: boolean;
}

/**
 * Makes cumulative counts monotonic as Prometheus does: a count below the running maximum is raised to it, and a
 * count that differs from its predecessor by rounding noise only, up or down, is set to it without a mark.
 *
 * `tolerance` is the relative size of that noise; 0 keeps every rise, as whole-number counts want it.
 * Follows `ensureMonotonicAndIgnoreSmallDeltas` of Prometheus 3 (promql/quantile.go).
 */
export function monotonic(h: ClassicHistogram, tolerance: number = NOISE): Monotonic {
  const { counts } = h;
  // Most histograms are monotonic: a copy is made only where a count has to be changed.
  let repaired: number[] | null = null;
  let forced = false;
  let previous = counts[0] ?? NaN;
  for (let i = 1; i < counts.length; i++) {
    const current = counts[i] ?? NaN;
    if (current === previous) continue;
    const noise = almostEqual(previous, current, tolerance);
    if (noise || current < previous) {
      repaired ??= [...counts];
      repaired[i] = previous;
      forced ||= !noise;
    } else {
      previous = current;
    }
  }
  return { histogram: repaired ? { ...h, counts: repaired } : h, forced };
}

/** Prometheus' `almost.Equal` (util/almost), without its stale markers. */
function almostEqual(a: number, b: number, epsilon: number): boolean {
  if (Number.isNaN(a) && Number.isNaN(b)) return true;
  if (a === b) return true;
  const sum = Math.abs(a) + Math.abs(b);
  const difference = Math.abs(a - b);
  if (a === 0 || b === 0 || sum < MIN_NORMAL) return difference < epsilon * MIN_NORMAL;
  return difference / Math.min(sum, Number.MAX_VALUE) < epsilon;
}

/**
 * Index of the bucket that holds the observation of the given rank: the first whose cumulative count reaches it.
 *
 * `counts` must not go down. The last bucket is the response when none before it reaches the rank. Halves in the order
 * of Go's `sort.Search`, so that NaN counts lead to the bucket to which they lead Prometheus.
 */
export function rankBucket(counts: ArrayLike<number>, rank: number): number {
  let low = 0;
  let high = counts.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((counts[middle] ?? NaN) >= rank) high = middle;
    else low = middle + 1;
  }
  return low;
}

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
function quantileInBucket(rank: number, index: number, bounds: readonly number[], counts: ArrayLike<number>): number {
  if (index === bounds.length - 1) return bounds[index - 1] ?? NaN;
  const upper = bounds[index] ?? NaN;
  if (index === 0 && upper <= 0) return upper;
  const lower = index === 0 ? 0 : (bounds[index - 1] ?? NaN);
  const before = index === 0 ? 0 : (counts[index - 1] ?? NaN);
  return lower + (upper - lower) * ((rank - before) / ((counts[index] ?? NaN) - before));
}

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
