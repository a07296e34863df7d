import { percentile, PERCENTILE_NAMES, PERCENTILES } from './percentiles.ts';
import type { PercentileName } from './percentiles.ts';

/** The statistics of a distribution; all but n in the unit of the values. */
export interface Summary {
  n: number;
  mean: number;
  /** Standard deviation of the values themselves, divided by n (numpy's default, ddof = 0). NaN with an infinite value. */
  std: number;
  min: number;
  max: number;
  /** Exact percentiles, linear between order statistics. */
  percentiles: Record<PercentileName, number>;
}

/**
 * Statistics of a sample in any order, which is left as it is; `sorted` is the same ascending when the caller has it. Null
 * when it is empty.
 *
 * +Infinity is a value like others (a failed request counted as infinitely slow).
 * @throws RangeError when a value is NaN: a missing value is left out by the caller, never counted.
 */
export function summarize(values: Float64Array, sorted: Float64Array = values.slice().sort()): Summary | null {
  const n = values.length;
  if (n === 0) return null;
  const { mean, min, max } = moments(values);
  const percentiles = {} as Record<PercentileName, number>;
  for (const name of PERCENTILE_NAMES) percentiles[name] = percentile(sorted, PERCENTILES[name]);
  return { n, mean, std: deviation(values, mean), min, max, percentiles };
}

/** Mean (by Neumaier's compensated sum, so that its error does not grow with n) and extremes. */
function moments(values: Float64Array): { mean: number; min: number; max: number } {
  let sum = 0;
  let lost = 0;
  let min = Infinity;
  let max = -Infinity;
  for (const value of values) {
    if (Number.isNaN(value)) throw new RangeError('a value to summarize is NaN');
    const next = sum + value;
    lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
    sum = next;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return { mean: (Number.isFinite(sum) ? sum + lost : sum) / values.length, min, max };
}

/** Second pass over the deviations: the sum of squares alone would cancel. */
function deviation(values: Float64Array, mean: number): number {
  let squares = 0;
  for (const value of values) squares += (value - mean) ** 2;
  return Math.sqrt(squares / values.length);
}
