import { interpolate } from './interpolate.ts';

/** The percentiles of a distribution in `result.json`, with the names that they have there. */
export const PERCENTILES = {
  p1: 0.01,
  p5: 0.05,
  p10: 0.1,
  p25: 0.25,
  p50: 0.5,
  p75: 0.75,
  p90: 0.9,
  p95: 0.95,
  p99: 0.99,
  p99_9: 0.999,
} as const;

export type PercentileName = keyof typeof PERCENTILES;

/** The names in ascending order of their quantile. */
export const PERCENTILE_NAMES = Object.keys(PERCENTILES) as PercentileName[];

/**
 * The q-th percentile, linear between order statistics: the value at rank (n - 1)q counted from 0.
 *
 * The default of numpy ("linear", type 7 of Hyndman and Fan) and AIPerf's, to the last digit. `sorted` is ascending
 * and free of NaN; +Infinity is a value like others. NaN when it is empty.
 * @throws RangeError when q is not within 0 to 1.
 */
export function percentile(sorted: Float64Array | readonly number[], q: number): number {
  if (!(q >= 0 && q <= 1)) throw new RangeError(`quantile ${q} is not within 0 to 1`);
  if (sorted.length === 0) return NaN;
  const { below, above, weight } = percentilePlace(sorted.length, q);
  return interpolate(sorted[below] ?? NaN, sorted[above] ?? NaN, weight);
}

/** The 50th percentile of values in any order; NaN when there are none. */
export function median(values: readonly number[]): number {
  return percentile(Float64Array.from(values).sort(), 0.5);
}

/** The order statistics (ranks from 0) between which the q-th percentile of n values lies, and the share of the upper one. */
export function percentilePlace(
  n: number,
  q: number,
): { readonly below: number; readonly above: number; readonly weight: number } {
  const rank = (n - 1) * q;
  const below = Math.floor(rank);
  return { below, above: Math.min(below + 1, n - 1), weight: rank - below };
}
