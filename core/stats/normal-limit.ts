import { longRunVariance } from './dependence.ts';
import { centered } from './centered.ts';
import type { Interval, Intervals } from './interval.ts';
import { normalQuantile } from './normal-quantile.ts';
import { percentile } from './percentiles.ts';

/**
 * The intervals to which those of the moving-block bootstrap tend when there are many values.
 *
 * The share of drawn values that are at most the p-th percentile is normal around p with variance p(1 - p) / effective
 * sample size. The bootstrap's interval ends at the order statistics whose share is just as far from q as the confidence
 * allows: Wilson's limits (JASA 22, 1927). The mean is normal with the batch means' variance.
 *
 * @param values in the order of time; `sorted` the same values ascending
 */
export function normalLimit(
  values: Float64Array,
  sorted: Float64Array,
  quantiles: readonly number[],
  plan: { blockLength: number; effectiveSampleSizes: readonly number[]; confidence: number },
): Intervals {
  const z = normalQuantile((1 + plan.confidence) / 2);
  const deviations = centered(values);
  const mean = (values[0] ?? NaN) - (deviations[0] ?? NaN);
  const meanError = z * Math.sqrt(longRunVariance(deviations, plan.blockLength) / values.length);
  return {
    quantiles: quantiles.map((q, i): Interval => {
      const [low, high] = wilsonLimits(q, plan.effectiveSampleSizes[i] ?? NaN, z);
      return [percentile(sorted, low), percentile(sorted, high)];
    }),
    mean: [mean - meanError, mean + meanError],
  };
}

/** The shares p for which q is z standard errors of p away. */
function wilsonLimits(q: number, n: number, z: number): [low: number, high: number] {
  const middle = (q + (z * z) / (2 * n)) / (1 + (z * z) / n);
  const reach = (z * Math.sqrt((q * (1 - q)) / n + (z * z) / (4 * n * n))) / (1 + (z * z) / n);
  return [Math.max(0, middle - reach), Math.min(1, middle + reach)];
}
