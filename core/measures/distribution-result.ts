import { quantileBounds } from '../histogram/bounds.ts';
import { histogramQuantile } from '../histogram/quantile.ts';
import type { DistributionResult, Percentile } from '../run/result.ts';
import { PERCENTILE_NAMES, PERCENTILES } from '../stats/percentiles.ts';
import type { PercentileName } from '../stats/percentiles.ts';
import { summarize } from '../stats/summarize.ts';
import type { Summary } from '../stats/summarize.ts';
import type { GapHistogram } from './gap-histogram.ts';
import type { DistributionMeasure } from './measures.ts';
import { samplingIntervals } from './sampling-intervals.ts';

/**
 * Exact statistics of a measure; `values` in the order in which their requests started.
 *
 * Over all requests a failed one counts as +Infinity. A percentile that reaches it, and with it mean, deviation and
 * maximum, is infinite, which JSON cannot say: null. So is an interval with an infinite end.
 */
export function exactDistribution(
  measure: DistributionMeasure,
  population: 'ok' | 'all',
  values: Float64Array,
): DistributionResult {
  const sorted = values.slice().sort();
  const sampling = samplingIntervals(values, sorted);
  const result = summedDistribution(measure, population, summarize(values, sorted));
  const { percentiles } = result;
  return {
    ...result,
    effective_n: sampling?.effective_n ?? null,
    percentiles: everyPercentile((name) => ({ ...percentiles[name], ci95: sampling?.ci95[name] ?? null })),
  };
}

/** The same from statistics that are known, of values too many for intervals; null: there is no value. */
export function summedDistribution(
  measure: DistributionMeasure,
  population: 'ok' | 'all',
  summary: Summary | null,
): DistributionResult {
  return {
    ...identity(measure, population),
    n: summary?.n ?? 0,
    effective_n: null,
    mean: finite(summary?.mean),
    std: finite(summary?.std),
    min: finite(summary?.min),
    max: finite(summary?.max),
    percentiles: everyPercentile((name) => ({
      value: finite(summary?.percentiles[name]),
      ci95: null,
      bounds: null,
    })),
  };
}

/**
 * Exact statistics of a great many gaps: count, mean, deviation and extremes of the histogram are exact too. An interval
 * would need their order in time.
 */
export function exactGaps(
  measure: DistributionMeasure,
  histogram: GapHistogram,
  percentiles: readonly number[],
): DistributionResult {
  return {
    ...histogramDistribution(measure, histogram),
    percentiles: everyPercentile((_name, i) => ({ value: finite(percentiles[i]), ci95: null, bounds: null })),
  };
}

/** The statistics of the ok requests again, for all of them: the same when none failed. */
export function asAll(ok: DistributionResult): DistributionResult {
  return { ...ok, population: 'all' };
}

/**
 * Statistics from the fine histogram: count, mean, deviation and extremes are exact, percentiles are Prometheus'
 * estimate with guaranteed bounds, which are less than 0.8 % apart.
 */
export function histogramDistribution(measure: DistributionMeasure, histogram: GapHistogram): DistributionResult {
  const { n, mean, min, max } = histogram;
  const classic = histogram.toClassic();
  return {
    ...identity(measure, 'ok'),
    n,
    effective_n: null,
    mean,
    std: n === 0 ? null : Math.sqrt(histogram.sumOfSquares / n),
    min,
    max,
    percentiles: everyPercentile((name): Percentile => {
      const bounds = quantileBounds(PERCENTILES[name], classic);
      if (bounds === null || min === null || max === null) return { value: null, ci95: null, bounds: null };
      const low = Math.max(bounds.low, min);
      const high = Math.min(bounds.high, max);
      const estimate = histogramQuantile(PERCENTILES[name], classic);
      return { value: Math.min(Math.max(estimate, low), high), ci95: null, bounds: [low, high] };
    }),
  };
}

function identity(
  { measure, unit, definition, clock }: DistributionMeasure,
  population: 'ok' | 'all',
): Pick<DistributionResult, 'measure' | 'unit' | 'definition' | 'origin' | 'population' | 'clock' | 'kind'> {
  return { measure, unit, definition, origin: 'client', population, clock, kind: 'distribution' };
}

function everyPercentile(of: (name: PercentileName, i: number) => Percentile): Record<PercentileName, Percentile> {
  return Object.fromEntries(PERCENTILE_NAMES.map((name, i) => [name, of(name, i)])) as Record<
    PercentileName,
    Percentile
  >;
}

/** What JSON can say of a number: infinite and missing values are null. */
function finite(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null;
}
