import { monotonicBucket, monotonicBounds, quantileBounds } from '../../../../../core/histogram/bounds.ts';
import { inOrder, type ClassicHistogram } from '../../../../../core/histogram/classic-histogram.ts';
import { exponentialQuantile } from '../../../../../core/histogram/native-histogram.ts';
import { monotonic, histogramQuantile, monotonicQuantile } from '../../../../../core/histogram/quantile.ts';
import { normalQuantile } from '../../../../../core/stats/distributions.ts';

/** One percentile of one histogram. */
export interface Percentile {
  /** 0 to 1. */
  quantile: number;
  /** Prometheus' `histogram_quantile`, in the metric's unit. */
  estimate: number;
  /**
   * The estimate's rank is in the overflow bucket. Prometheus then returns the largest finite bound, and all that
   * is known is "> estimate".
   */
  overflow: boolean;
  /** The interval (low, high]: a bound for true counts, else the bucket of the estimate. */
  low: number;
  /** `Infinity` when the interval reaches into the overflow bucket. */
  high: number;
  /** The sum of the values made the interval smaller than the buckets alone. */
  narrowed: boolean;
  /** The sum cannot belong to these buckets, and was not used. */
  infeasibleSum: boolean;
}

/** How the counts of a series are to be read. */
export interface CountsReading {
  trueCounts: boolean;
  exponential: boolean;
}

/** Percentiles of a histogram, in order of `quantiles`; null when it holds no observation. */
export function percentilesOf(
  histogram: ClassicHistogram,
  quantiles: readonly number[],
  reading: CountsReading
): Percentile[] | null {
  const { trueCounts, exponential } = reading;
  // Looked at once for all percentiles: of a thousand points of sixty buckets, most of the time would go there.
  const clean = isClean(histogram);
  const ordered = clean ? histogram : monotonic(inOrder(histogram)).histogram;
  const useSum = histogram.sum !== null;
  const percentiles: Percentile[] = [];
  for (const quantile of quantiles) {
    const estimate = exponential
      ? estimateOf(quantile, histogram, true)
      : monotonicQuantile(quantile, ordered.bounds, ordered.counts);
    const bucket = monotonicBucket(quantile, ordered);
    const bounds = clean ? monotonicBounds : quantileBounds;
    const bound = trueCounts ? bounds(quantile, histogram, { useSum }) : null;
    const interval = trueCounts ? bound : bucket;
    if (interval === null || Number.isNaN(estimate)) {
      return null;
    }
    const { low, high } = interval;
    const overflow = bucket !== null && bucket.overflow;
    const { narrowedBySum: narrowed = false, infeasibleSum = false } = bound ?? {};
    percentiles.push({ quantile, estimate, overflow, low, high, narrowed, infeasibleSum });
  }
  return percentiles;
}

/** Prometheus' `histogram_quantile` of classic or native buckets. */
export function estimateOf(quantile: number, histogram: ClassicHistogram, exponential: boolean): number {
  // Prometheus goes through native buckets from the nearer end where the sum is a number; Grafana leaves it out.
  return exponential ? exponentialQuantile(quantile, { ...histogram, sum: 0 }) : histogramQuantile(quantile, histogram);
}

/** True for whole counts that never go down, the last above 0, up to the overflow bucket: nothing has to be repaired. */
function isClean({ bounds, counts }: ClassicHistogram): boolean {
  const last = counts.length - 1;
  let previous = 0;
  for (let i = 0; i <= last; i++) {
    const count = counts[i] ?? NaN;
    if (!(count >= previous) || count !== Math.floor(count)) {
      return false;
    }
    previous = count;
  }
  // Beyond 2^40 neighboring whole numbers are what Prometheus takes for rounding noise.
  return last > 0 && bounds[last] === Infinity && previous > 0 && previous < 2 ** 39;
}

/** Sampling interval of a percentile over this many observations, without the uncertainty of the buckets. */
export interface SamplingInterval {
  low: number;
  /** `Infinity` with too few observations for an upper end. */
  high: number;
}

const CONFIDENCE = 0.95;

/**
 * The 95 % interval between order statistics, whose ranks follow from the binomial distribution (normal approximation
 * with a correction for continuity), each rank read as Prometheus' estimate. It holds for independent observations;
 * requests that queue together are not, so the truth is wider. Null without observations.
 */
export function samplingInterval(
  quantile: number,
  histogram: ClassicHistogram,
  exponential: boolean
): SamplingInterval | null {
  const n = histogram.counts.at(-1) ?? 0;
  if (!(n > 0)) {
    return null;
  }
  const reach = normalQuantile((1 + CONFIDENCE) / 2) * Math.sqrt(n * quantile * (1 - quantile)) + 0.5;
  const lowRank = Math.floor(n * quantile - reach);
  const highRank = Math.ceil(n * quantile + reach);
  const at = (rank: number) => estimateOf(rank / n, histogram, exponential);
  const overflow = n - (histogram.counts.at(-2) ?? 0);
  return {
    low: lowRank < 1 ? Math.min(0, histogram.bounds[0] ?? 0) : at(lowRank),
    high: highRank > n - overflow ? Infinity : at(highRank),
  };
}

/** `p99` for 0.99, `p99.9` for 0.999. */
export function percentileName(quantile: number): string {
  return `p${Number((quantile * 100).toFixed(6))}`;
}
