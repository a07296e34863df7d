import { bucketOfEstimate } from '../../../../../core/histogram/bucket-of-estimate.ts';
import { monotonicBounds, quantileBounds } from '../../../../../core/histogram/bounds.ts';
import type { ClassicHistogram } from '../../../../../core/histogram/classic-histogram.ts';
import { exponentialQuantile } from '../../../../../core/histogram/native/exponential-quantile.ts';
import { histogramQuantile, monotonicQuantile } from '../../../../../core/histogram/quantile.ts';

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
  const percentiles: Percentile[] = [];
  // Looked at once for all percentiles: of a thousand points of sixty buckets, most of the time would go there.
  const clean = isClean(histogram);
  for (const quantile of quantiles) {
    const estimate =
      clean && !reading.exponential
        ? monotonicQuantile(quantile, histogram.bounds, histogram.counts)
        : estimateOf(quantile, histogram, reading.exponential);
    const useSum = histogram.sum !== null;
    const bounds = !reading.trueCounts
      ? null
      : clean
        ? monotonicBounds(quantile, histogram, { useSum })
        : quantileBounds(quantile, histogram, { useSum });
    const interval = reading.trueCounts ? bounds : bucketOfEstimate(quantile, histogram);
    if (interval === null || Number.isNaN(estimate)) {
      return null;
    }
    const { low, high } = interval;
    const overflow = inOverflow(quantile, histogram, estimate);
    const { narrowedBySum: narrowed = false, infeasibleSum = false } = bounds ?? {};
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
  // Beyond 2^40 neighbouring whole numbers are what Prometheus takes for rounding noise.
  return last > 0 && bounds[last] === Infinity && previous > 0 && previous < 2 ** 39;
}

function inOverflow(quantile: number, histogram: ClassicHistogram, estimate: number): boolean {
  // Only an estimate on the largest finite bound can come from the overflow bucket: the second look is rare.
  return estimate === histogram.bounds.at(-2) && bucketOfEstimate(quantile, histogram)?.overflow === true;
}
