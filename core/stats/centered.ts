/**
 * The deviations of finite values from their mean. Counted from the first value, so that equal values deviate by
 * exactly 0 and not by the rounding of their sum. They are written into `deviations`, which is as long as the values.
 */
export function centered(values: Float64Array, deviations = new Float64Array(values.length)): Float64Array {
  const origin = values[0] ?? NaN;
  let sum = 0;
  for (const value of values) sum += value - origin;
  const mean = sum / values.length;
  for (let i = 0; i < values.length; i++) deviations[i] = (values[i] ?? NaN) - origin - mean;
  return deviations;
}
