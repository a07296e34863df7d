import { longRunVariance } from './batch-means.ts';
import { centred } from './centred.ts';
import type { Interval, Intervals } from './interval.ts';
import { normalQuantile } from './normal-quantile.ts';
import { percentile } from './percentiles.ts';

/**
 * The intervals to which those of the moving-block bootstrap tend when there are many values.
 *
 * The share of values at or below a percentile is normal around q with variance q(1 - q) / effective sample size: the
 * interval lies between the order statistics at its limits. The mean is normal with the batch means' variance.
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
  const deviations = centred(values);
  const mean = (values[0] ?? NaN) - (deviations[0] ?? NaN);
  const meanError = z * Math.sqrt(longRunVariance(deviations, plan.blockLength) / values.length);
  return {
    quantiles: quantiles.map((q, i): Interval => {
      const error = z * Math.sqrt((q * (1 - q)) / (plan.effectiveSampleSizes[i] ?? NaN));
      return [percentile(sorted, Math.max(0, q - error)), percentile(sorted, Math.min(1, q + error))];
    }),
    mean: [mean - meanError, mean + meanError],
  };
}
