/**
 * Autocovariance of a series at a lag: the mean product of deviations from the series' mean, divided by n (the biased
 * estimate, which keeps spectral estimates from going negative). `deviations` are the values less their mean.
 */
export function autocovariance(deviations: Float64Array, lag: number): number {
  let sum = 0;
  for (let i = lag; i < deviations.length; i++) sum += (deviations[i] ?? NaN) * (deviations[i - lag] ?? NaN);
  return sum / deviations.length;
}
