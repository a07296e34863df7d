import { quantileBounds } from '../histogram/bounds.ts';
import { histogramQuantile } from '../histogram/quantile.ts';
import type { DistributionResult, Percentile } from '../run/result.ts';
import { blockBootstrap } from '../stats/block-bootstrap.ts';
import { PERCENTILE_NAMES, PERCENTILES, summarize, type PercentileName, type Summary } from '../stats/percentiles.ts';
import type { GapHistogram } from './chunk-reading.ts';
import type { DistributionMeasure } from './measures.ts';

const RESAMPLES = 1000;
const SEED = 1;
const CONFIDENCE = 0.95;

/** Values that must be expected beyond a percentile, as in `blockBootstrap`. */
const NEEDED_BEYOND = 5;

/** Above this many values no interval is calculated: it would need several times the values' own memory. */
export const INTERVALS_UP_TO = 1_000_000;

/** The sampling uncertainty of a run's percentiles. */
export interface SamplingIntervals {
  /** n as independent observations would give the same certainty. */
  readonly effective_n: number;
  /** 95 % intervals; null when the values are too few for that percentile or an end is infinite. */
  readonly ci95: Readonly<Record<PercentileName, readonly [low: number, high: number] | null>>;
}

/**
 * 95 % intervals by a moving-block bootstrap (`blockBootstrap`), the same for the same values. `values` are in the
 * order in which their requests started, `sorted` the same ascending. Null when there are none, or more than a million.
 */
export function samplingIntervals(values: Float64Array, sorted: Float64Array): SamplingIntervals | null {
  if (values.length === 0 || values.length > INTERVALS_UP_TO) return null;
  const [first] = sorted;
  if (first !== undefined && first === sorted.at(-1)) return constantIntervals(first, values.length);
  const { intervals, effectiveSampleSize } = blockBootstrap(values, {
    quantiles: PERCENTILE_NAMES.map((name) => PERCENTILES[name]),
    resamples: RESAMPLES,
    seed: SEED,
    confidence: CONFIDENCE,
    sorted,
  });
  const named = PERCENTILE_NAMES.map((name, i) => {
    const interval = intervals[i] ?? null;
    return [name, interval?.every(Number.isFinite) === true ? interval : null] as const;
  });
  return { effective_n: effectiveSampleSize, ci95: Object.fromEntries(named) as SamplingIntervals['ci95'] };
}

/** Lengths of responses are often all the same, and a resample of them is too: what the bootstrap gives, without drawing. */
function constantIntervals(value: number, n: number): SamplingIntervals {
  const named = PERCENTILE_NAMES.map((name) => {
    const tail = Math.min(PERCENTILES[name], 1 - PERCENTILES[name]);
    return [name, Number.isFinite(value) && n * tail >= NEEDED_BEYOND ? [value, value] : null] as const;
  });
  return { effective_n: n, ci95: Object.fromEntries(named) as unknown as SamplingIntervals['ci95'] };
}

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
