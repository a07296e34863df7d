import { batchDependence } from './batch-means.ts';
import { resampleBlocks } from './block-resampler.ts';
import { dependence } from './dependence.ts';
import type { Interval } from './interval.ts';
import { normalLimit } from './normal-limit.ts';
import { percentile } from './percentiles.ts';
import { position } from './position.ts';

/** Up to this many values resamples are drawn; above, the limit to which they tend is calculated. */
const DRAWN_UP_TO = 50_000;

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
}

export interface BlockBootstrap {
  /** One per quantile; null = too few effective values for that percentile. */
  intervals: (Interval | null)[];
  /** Interval of the mean; null = too few effective values, or an infinite one. */
  mean: Interval | null;
  /** Number of independent values that would tell as much about the middle of the distribution. */
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
 * quantile, because stalls that hit neighbours show in the tail only. A percentile gets an interval when its effective
 * sample size x min(q, 1 - q) >= 5 (p50 needs 10 effective values, p99 needs 500, p99.9 needs 5,000) and that of the
 * ranks x min(q, 1 - q) >= 2; a mean needs 10. With fewer the interval is null: too few is said, not hidden.
 *
 * Above 50,000 values nothing is drawn: see `batchDependence` and `normalLimit`; `resamples` and `seed` have no effect.
 *
 * It tells how far another sample from the same run could differ, not how far another run would.
 * @throws RangeError when a value is NaN or an option is out of its range.
 */
export function blockBootstrap(valuesInTimeOrder: Float64Array, options: BlockBootstrapOptions): BlockBootstrap {
  const { quantiles, resamples = 500, seed = 1, confidence = 0.95 } = options;
  if (!(confidence > 0 && confidence < 1)) throw new RangeError(`confidence ${confidence} is not between 0 and 1`);
  if (!(Number.isInteger(resamples) && resamples > 0)) throw new RangeError(`resamples ${resamples} is not above 0`);
  if (valuesInTimeOrder.some(Number.isNaN)) throw new RangeError('a value to resample is NaN');
  if (valuesInTimeOrder.length === 0) return nothing(quantiles);

  const sorted = valuesInTimeOrder.slice().sort();
  const many = sorted.length > DRAWN_UP_TO;
  const measure = many ? batchDependence : dependence;
  const ofRanks = measure(valuesInTimeOrder.map((value) => position(sorted, value)));
  const ofQuantiles = quantiles.map((q) => measure(atMost(valuesInTimeOrder, percentile(sorted, q))));
  const blockLength = Math.max(ofRanks.blockLength, ...ofQuantiles.map((each) => each.blockLength));
  const effectiveSampleSizes = ofQuantiles.map((each) => each.effectiveSampleSize);

  const drawn = many
    ? normalLimit(valuesInTimeOrder, sorted, quantiles, { blockLength, effectiveSampleSizes, confidence })
    : resampleBlocks(valuesInTimeOrder, sorted, quantiles, { blockLength, resamples, seed, confidence });
  const finite = Number.isFinite(sorted[0]) && Number.isFinite(sorted.at(-1));
  return {
    intervals: quantiles.map((q, i) => {
      const tail = Math.min(q, 1 - q);
      const enough =
        (effectiveSampleSizes[i] ?? 0) * tail >= NEEDED_BEYOND &&
        ofRanks.effectiveSampleSize * tail >= NEEDED_BEYOND_BY_RANKS;
      return enough ? (drawn.quantiles[i] ?? null) : null;
    }),
    mean: finite && ofRanks.effectiveSampleSize >= NEEDED_FOR_MEAN ? drawn.mean : null,
    effectiveSampleSize: ofRanks.effectiveSampleSize,
    effectiveSampleSizes,
    blockLength,
  };
}

/** 1 where the value is at most the threshold, else 0. */
function atMost(values: Float64Array, threshold: number): Float64Array {
  return values.map((value) => (value <= threshold ? 1 : 0));
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
