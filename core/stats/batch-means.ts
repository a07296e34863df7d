import { autocovariance } from './autocovariance.ts';
import { centred } from './centred.ts';
import type { Dependence } from './dependence.ts';

/**
 * Measures the dependence in a long series of finite values (at least 4) from its overlapping batch means, in one pass:
 * blocks of floor(sqrt n) values (Flegal and Jones, Annals of Statistics 38, 2010).
 *
 * @param scratch is written over; as long as the series
 */
export function batchDependence(series: Float64Array, scratch = new Float64Array(series.length)): Dependence {
  const n = series.length;
  const blockLength = Math.floor(Math.sqrt(n));
  const deviations = centred(series, scratch);
  const variance = autocovariance(deviations, 0);
  const longRun = longRunVariance(deviations, blockLength);
  const effective = longRun > 0 ? (n * variance) / longRun : n;
  return { blockLength, effectiveSampleSize: Math.min(n, Math.max(1, effective)) };
}

/**
 * n times the variance of the mean of a series: Meketon and Schmeiser's estimate (1984), the variance of the moving-block
 * bootstrap's mean without drawing it. `blockLength` is below the number of values.
 */
export function longRunVariance(deviations: Float64Array, blockLength: number): number {
  const n = deviations.length;
  let block = 0;
  let squares = 0;
  for (let i = 0; i < n; i++) {
    block += (deviations[i] ?? NaN) - (i >= blockLength ? (deviations[i - blockLength] ?? NaN) : 0);
    if (i >= blockLength - 1) squares += block * block;
  }
  return (n * squares) / (blockLength * (n - blockLength) * (n - blockLength + 1));
}
