/**
 * The deviations of finite values from their mean. Counted from the first value, so that equal values deviate by
 * exactly 0 and not by the rounding of their sum.
 */
export function centred(values: Float64Array): Float64Array {
  const origin = values[0] ?? NaN;
  let sum = 0;
  for (const value of values) sum += value - origin;
  const mean = sum / values.length;
  return values.map((value) => value - origin - mean);
}
