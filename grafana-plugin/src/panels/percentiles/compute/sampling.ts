import type { ClassicHistogram } from '../../../../../core/histogram/classic-histogram.ts';
import { normalQuantile } from '../../../../../core/stats/distributions.ts';
import { estimateOf } from './percentile.ts';

/** Sampling interval of a percentile over this many observations, without the uncertainty of the buckets. */
export interface SamplingInterval {
  low: number;
  /** `Infinity` with too few observations for an upper end. */
  high: number;
}

const CONFIDENCE = 0.95;

/**
 * The 95 % interval between order statistics, whose ranks follow from the binomial distribution (normal approximation
 * with a correction for continuity), each rank read as Prometheus' estimate. It holds for independent observations;
 * requests that queue together are not, so the truth is wider. Null without observations.
 */
export function samplingInterval(
  quantile: number,
  histogram: ClassicHistogram,
  exponential: boolean
): SamplingInterval | null {
  const n = histogram.counts.at(-1) ?? 0;
  if (!(n > 0)) {
    return null;
  }
  const reach = normalQuantile((1 + CONFIDENCE) / 2) * Math.sqrt(n * quantile * (1 - quantile)) + 0.5;
  const lowRank = Math.floor(n * quantile - reach);
  const highRank = Math.ceil(n * quantile + reach);
  const at = (rank: number) => estimateOf(rank / n, histogram, exponential);
  const overflow = n - (histogram.counts.at(-2) ?? 0);
  return {
    low: lowRank < 1 ? Math.min(0, histogram.bounds[0] ?? 0) : at(lowRank),
    high: highRank > n - overflow ? Infinity : at(highRank),
  };
}
