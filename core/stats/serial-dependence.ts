import { median } from './percentiles.ts';

/** Fewer values say nothing of their dependence. */
const MIN_FOR_DEPENDENCE = 10;
/**
 * What the dependence is taken for before it is estimated, and how much that weighs. Five series of 20 values estimate it with a
 * standard deviation of 0.15; drawn to a guess it scatters less, and what is taken for too small costs more false alarms than what is
 * taken for too large costs power.
 */
const GUESS = 0.5;
const WEIGHT_OF_GUESS = 0.3;
const MAX_DEPENDENCE = 0.85;

/**
 * First-order autocorrelation of the ranks, which limit the influence of outliers, −1 to 1. Null for fewer than 10 values or when
 * all are equal.
 *
 * Correction of the bias −(1 + 3ρ) ÷ n: Kendall, Biometrika 41 (1954).
 */
export function rankAutocorrelation(series: readonly number[]): number | null {
  const n = series.length;
  if (n < MIN_FOR_DEPENDENCE) return null;
  const ranks = midranks(series);
  const mean = (n + 1) / 2;
  let squares = 0;
  let products = 0;
  ranks.forEach((rank, i) => {
    squares += (rank - mean) ** 2;
    products += i === 0 ? 0 : (rank - mean) * ((ranks[i - 1] ?? NaN) - mean);
  });
  if (squares === 0) return null;
  return Math.max(-1, Math.min(1, ((n * products) / squares + 1) / (n - 3)));
}

/**
 * How much runs resemble the run before, by several series of the same runs: one of 20 values says little of it, and what makes
 * runs resemble each other moves all of them. From 0 (independent); series of which most values are equal say nothing.
 */
export function dependenceBetween(series: readonly (readonly number[])[]): number {
  const known = series.flatMap((values) => {
    const center = median(values);
    const isMostlyEqual = 2 * values.filter((value) => value === center).length > values.length;
    return isMostlyEqual ? [] : (rankAutocorrelation(values) ?? []);
  });
  if (known.length === 0) return 0;
  const mean = known.reduce((sum, each) => sum + each, 0) / known.length;
  return Math.max(0, Math.min(MAX_DEPENDENCE, WEIGHT_OF_GUESS * GUESS + (1 - WEIGHT_OF_GUESS) * mean));
}

/**
 * By how much the difference between the means of `k` values and of the `n` before scatters more than that of independent values,
 * in standard deviations as they are estimated from the `n`: of an autoregression of first order.
 */
export function dependentDeviation(
  { dependence, n }: { readonly dependence: number; readonly n: number },
  k: number,
): number {
  if (dependence === 0) return 1;
  const ofMean = varianceOfMean(dependence, n);
  const estimated = (n - n * ofMean) / Math.max(1, n - 1);
  return Math.sqrt((varianceOfMean(dependence, k) + ofMean) / (1 / k + 1 / n) / (estimated || 1));
}

/** Of `count` values with variance 1. */
function varianceOfMean(dependence: number, count: number): number {
  let sum = 1;
  for (let lag = 1; lag < count; lag++) sum += 2 * (1 - lag / count) * dependence ** lag;
  return sum / count;
}

/** Ranks from 1; equal values share the mean of their ranks. */
function midranks(values: readonly number[]): readonly number[] {
  const order = values.map((_, index) => index).sort((i, j) => (values[i] ?? 0) - (values[j] ?? 0));
  const ranks = new Array<number>(values.length).fill(0);
  for (let start = 0; start < order.length;) {
    let end = start + 1;
    while (end < order.length && values[order[end] ?? 0] === values[order[start] ?? 0]) end++;
    for (let place = start; place < end; place++) ranks[order[place] ?? 0] = (start + end + 1) / 2;
    start = end;
  }
  return ranks;
}
