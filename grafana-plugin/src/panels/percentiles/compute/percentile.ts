import { bucketOfEstimate } from '../../../../../core/histogram/bucket-of-estimate.ts';
import { quantileBounds } from '../../../../../core/histogram/bounds.ts';
import type { ClassicHistogram } from '../../../../../core/histogram/classic-histogram.ts';
import { histogramQuantile } from '../../../../../core/histogram/quantile.ts';

/** One percentile of one histogram. */
export interface Percentile {
  /** 0 to 1. */
  quantile: number;
  /** Prometheus' `histogram_quantile`, in the metric's unit. */
  estimate: number;
  /**
   * The estimate's rank lies in the overflow bucket. Prometheus then answers with the largest finite bound, and all that
   * can be said is "> estimate".
   */
  overflow: boolean;
  /** The interval (low, high] from the buckets: a bound for true counts, else the bucket of the estimate. */
  low: number;
  /** `Infinity` when the interval reaches into the overflow bucket. */
  high: number;
}

/** Percentiles of a histogram, in order of `quantiles`; null when it holds no observation. */
export function percentilesOf(
  histogram: ClassicHistogram,
  quantiles: readonly number[],
  trueCounts: boolean
): Percentile[] | null {
  const percentiles: Percentile[] = [];
  for (const quantile of quantiles) {
    const interval = trueCounts ? quantileBounds(quantile, histogram) : bucketOfEstimate(quantile, histogram);
    const estimate = histogramQuantile(quantile, histogram);
    if (interval === null || Number.isNaN(estimate)) {
      return null;
    }
    const { low, high } = interval;
    percentiles.push({ quantile, estimate, overflow: inOverflow(quantile, histogram, estimate), low, high });
  }
  return percentiles;
}

function inOverflow(quantile: number, histogram: ClassicHistogram, estimate: number): boolean {
  // Only an estimate on the largest finite bound can come from the overflow bucket: the second look is rare.
  return estimate === histogram.bounds.at(-2) && bucketOfEstimate(quantile, histogram)?.overflow === true;
}
