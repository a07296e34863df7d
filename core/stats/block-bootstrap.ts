import { batchDependence, dependence, longRunVariance } from './dependence.ts';
import { resampleBlocks } from './block-resampler.ts';
import type { Interval, Intervals } from './interval.ts';
import { percentile } from './percentiles.ts';
import { firstNotBelow, placesOf } from './places.ts';
import { centered } from './centered.ts';
import { normalQuantile } from './normal-quantile.ts';

/** Up to this many values resamples are drawn; above, the limit to which they tend is calculated. */
const DRAWN_UP_TO = 5_000;

/** Above this many values their dependence is measured by batch means, in one pass. */
const LAGS_UP_TO = 50_000;

/** Effective values that must be expected on the thinner side of a percentile. */
const NEEDED_BEYOND = 5;

/** The same by the effective sample size of the ranks: a tail of few values shows too little of its dependence. */
const NEEDED_BEYOND_BY_RANKS = 2;

/** Effective values that a mean needs. */
const NEEDED_FOR_MEAN = 10;

export interface BlockBootstrapOptions {
  /** The percentiles wanted, each 0 to 1. */
  readonly quantiles: readonly number[];
  /** Default 500. */
  readonly resamples?: number;
  /** Whole number; the same seed gives the same intervals. Default 1. */
  readonly seed?: number;
  /** Share of intervals that are to hold the truth, between 0 and 1. Default 0.95. */
  readonly confidence?: number;
  /** The values in ascending order, when the caller has them; they are left as they are. */
  readonly sorted?: Float64Array;
}

export interface BlockBootstrap {
  /** One per quantile; null = too few effective values for that percentile. */
  intervals: (Interval | null)[];
  /** Interval of the mean; null = too few effective values, or an infinite one. */
  mean: Interval | null;
  /** Number of independent values that would carry the same information about the middle of the distribution. */
  effectiveSampleSize: number;
  /** The same for each quantile: of the series "at most the percentile or not". */
  effectiveSampleSizes: number[];
  /** Values per block. */
  blockLength: number;
}

/**
 * Sampling intervals of percentiles and mean of one run, whose values are not independent: moving-block bootstrap over
 * the values in the order of their start time (Künsch 1989), percentile method.
 *
 * The block length is the longest that the rule of Politis and White (see `dependence`) gives for the ranks of the
 * values, whose dependence a few outliers cannot hide, and for the series "at most the percentile or not" of each
 * quantile, because stalls that hit neighbors show in the tail only. A percentile gets an interval when its effective
 * sample size x min(q, 1 - q) >= 5 (p50 needs 10 effective values, p99 needs 500, p99.9 needs 5,000) and that of the
 * ranks x min(q, 1 - q) >= 2; a mean needs 10. With fewer the interval is null, and the output says "too few".
 *
 * Above 5,000 values nothing is drawn, `resamples` and `seed` have no effect: see `normalLimit`. Above 50,000 the dependence
 * is that of batch means: see `batchDependence`.
 *
 * It states how far another sample from the same run could differ, not how far another run would.
 * @throws RangeError when a value is NaN or an option is out of its range.
 */
export function blockBootstrap(valuesInTimeOrder: Float64Array, options: BlockBootstrapOptions): BlockBootstrap {
  const { quantiles, resamples = 500, seed = 1, confidence = 0.95 } = options;
  if (!(confidence > 0 && confidence < 1)) throw new RangeError(`confidence ${confidence} is not between 0 and 1`);
  if (!(Number.isInteger(resamples) && resamples > 0)) throw new RangeError(`resamples ${resamples} is not above 0`);
  if (valuesInTimeOrder.length === 0) return nothing(quantiles);

  const sorted = options.sorted ?? valuesInTimeOrder.slice().sort();
  // A sort puts NaN last.
  if (Number.isNaN(sorted.at(-1))) throw new RangeError('a value to resample is NaN');
  const places = placesOf(valuesInTimeOrder, sorted);
  const measure = sorted.length > LAGS_UP_TO ? batchDependence : dependence;
  // Many values: one series after the other in the same memory.
  const series = new Float64Array(sorted.length);
  const scratch = new Float64Array(sorted.length);
  const ofRanks = measure(copied(places, series), scratch);
  const ofQuantiles = quantiles.map((q) =>
    measure(atMost(places, valuesUpTo(sorted, percentile(sorted, q)), series), scratch),
  );
  const blockLength = Math.max(ofRanks.blockLength, ...ofQuantiles.map((each) => each.blockLength));
  const effectiveSampleSizes = ofQuantiles.map((each) => each.effectiveSampleSize);

  const isEnough = quantiles.map((q, i) => {
    const tail = Math.min(q, 1 - q);
    const ofTail = (effectiveSampleSizes[i] ?? 0) * tail;
    return ofTail >= NEEDED_BEYOND && ofRanks.effectiveSampleSize * tail >= NEEDED_BEYOND_BY_RANKS;
  });
  const isFinite = Number.isFinite(sorted[0]) && Number.isFinite(sorted.at(-1));
  const hasMean = isFinite && ofRanks.effectiveSampleSize >= NEEDED_FOR_MEAN;
  // Nothing is drawn for what few values cannot say.
  const wanted = quantiles.filter((_, i) => isEnough[i]);
  const sizes = effectiveSampleSizes.filter((_, i) => isEnough[i]);
  const drawn =
    wanted.length === 0 && !hasMean
      ? null
      : sorted.length > DRAWN_UP_TO
        ? normalLimit(valuesInTimeOrder, sorted, wanted, { blockLength, effectiveSampleSizes: sizes, confidence })
        : resampleBlocks(valuesInTimeOrder, sorted, places, wanted, { blockLength, resamples, seed, confidence });
  const intervals = drawn?.quantiles.values();
  return {
    intervals: isEnough.map((enough) => (enough ? (intervals?.next().value ?? null) : null)),
    mean: hasMean ? (drawn?.mean ?? null) : null,
    effectiveSampleSize: ofRanks.effectiveSampleSize,
    effectiveSampleSizes,
    blockLength,
  };
}

/** How many of the sorted values are at most the threshold. */
function valuesUpTo(sorted: Float64Array, threshold: number): number {
  let count = firstNotBelow(sorted, threshold);
  while (count < sorted.length && (sorted[count] ?? NaN) <= threshold) count++;
  return count;
}

function copied(places: Uint32Array, series: Float64Array): Float64Array {
  series.set(places);
  return series;
}

/** 1 where the value is among the first `count` of the sorted ones, else 0. */
function atMost(places: Uint32Array, count: number, series: Float64Array): Float64Array {
  for (let i = 0; i < places.length; i++) series[i] = (places[i] ?? 0) < count ? 1 : 0;
  return series;
}

function nothing(quantiles: readonly number[]): BlockBootstrap {
  return {
    intervals: quantiles.map(() => null),
    mean: null,
    effectiveSampleSize: 0,
    effectiveSampleSizes: quantiles.map(() => 0),
    blockLength: 1,
  };
}

/**
 * The intervals to which those of the moving-block bootstrap tend when there are many values.
 *
 * The share of drawn values that are at most the p-th percentile is normal around p with variance p(1 - p) / effective
 * sample size. The bootstrap's interval ends at the order statistics whose share is just as far from q as the confidence
 * allows: Wilson's limits (JASA 22, 1927). The mean is normal with the batch means' variance.
 *
 * @param values in the order of time; `sorted` the same values ascending
 */
function normalLimit(
  values: Float64Array,
  sorted: Float64Array,
  quantiles: readonly number[],
  plan: { blockLength: number; effectiveSampleSizes: readonly number[]; confidence: number },
): Intervals {
  const z = normalQuantile((1 + plan.confidence) / 2);
  const deviations = centered(values);
  const mean = (values[0] ?? NaN) - (deviations[0] ?? NaN);
  const meanError = z * Math.sqrt(longRunVariance(deviations, plan.blockLength) / values.length);
  return {
    quantiles: quantiles.map((q, i): Interval => {
      const [low, high] = wilsonLimits(q, plan.effectiveSampleSizes[i] ?? NaN, z);
      return [percentile(sorted, low), percentile(sorted, high)];
    }),
    mean: [mean - meanError, mean + meanError],
  };
}

/** The shares p for which q is z standard errors of p away. */
function wilsonLimits(q: number, n: number, z: number): [low: number, high: number] {
  const middle = (q + (z * z) / (2 * n)) / (1 + (z * z) / n);
  const reach = (z * Math.sqrt((q * (1 - q)) / n + (z * z) / (4 * n * n))) / (1 + (z * z) / n);
  return [Math.max(0, middle - reach), Math.min(1, middle + reach)];
}
