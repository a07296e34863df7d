import { batchDependence, dependence, longRunVariance, centered } from './dependence.ts';
import { normalQuantile } from './distributions.ts';
import { firstNotBelow, interpolate, percentile, percentilePlace } from './percentiles.ts';
import { sfc32 } from './seeded-random.ts';
import type { Interval, Intervals } from './shift.ts';

export interface ResamplingPlan {
  readonly blockLength: number;
  readonly resamples: number;
  readonly seed: number;
  readonly confidence: number;
}

/** Places are also counted by stretches of this many, so that an order statistic is found without passing every place. */
const STRETCH_BITS = 6;

/**
 * Intervals of percentiles and mean by the percentile method. Draws moving-block resamples (Künsch 1989): blocks of
 * consecutive values, their starts uniform, laid end to end up to the original number of values, the last one cut.
 *
 * A resample is never sorted: each value is counted at its place in the sorted original, and the counts give all order
 * statistics.
 *
 * @param values in the order of time; `sorted` the same values ascending; `places` where each value is in `sorted`
 */
function resampleBlocks(
  values: Float64Array,
  sorted: Float64Array,
  places: Uint32Array,
  quantiles: readonly number[],
  plan: ResamplingPlan,
): Intervals {
  const n = values.length;
  const { blockLength, resamples } = plan;
  const sought = quantiles.map((q) => percentilePlace(n, q));
  const wanted = [...new Set(sought.flatMap(({ below, above }) => [below, above]))].sort((a, b) => a - b);
  const ranks = sought.map(({ below, above, weight }) => ({
    below: wanted.indexOf(below),
    above: wanted.indexOf(above),
    weight,
  }));
  const prefix = prefixSums(values);
  const next = sfc32(plan.seed);
  const starts = n - blockLength + 1;
  const counts = new PlaceCounts(n);
  const found = new Float64Array(wanted.length);
  const drawnQuantiles = ranks.map((rank) => ({ ...rank, drawn: new Float64Array(resamples) }));
  const drawnMeans = new Float64Array(resamples);
  for (let resample = 0; resample < resamples; resample++) {
    counts.clear();
    let sum = 0;
    for (let drawn = 0; drawn < n; drawn += blockLength) {
      const start = Math.floor((next() / 2 ** 32) * starts);
      const end = start + Math.min(blockLength, n - drawn);
      counts.add(places, start, end);
      sum += (prefix[end] ?? NaN) - (prefix[start] ?? NaN);
    }
    drawnMeans[resample] = sum / n;
    counts.orderStatistics(sorted, wanted, found);
    for (const { below, above, weight, drawn } of drawnQuantiles)
      drawn[resample] = interpolate(found[below] ?? NaN, found[above] ?? NaN, weight);
  }
  return {
    quantiles: drawnQuantiles.map(({ drawn }) => middle(drawn, plan.confidence)),
    mean: middle(drawnMeans, plan.confidence),
  };
}

/** How often each place of the sorted values was drawn. */
class PlaceCounts {
  readonly #places: Uint32Array;
  readonly #stretches: Uint32Array;

  constructor(n: number) {
    this.#places = new Uint32Array(n);
    this.#stretches = new Uint32Array((n >> STRETCH_BITS) + 1);
  }

  clear(): void {
    this.#places.fill(0);
    this.#stretches.fill(0);
  }

  /** Counts the places of the values [start, end). */
  add(placeOf: Uint32Array, start: number, end: number): void {
    const places = this.#places;
    const stretches = this.#stretches;
    for (let i = start; i < end; i++) {
      const place = placeOf[i] ?? 0;
      places[place] = (places[place] ?? 0) + 1;
      const stretch = place >> STRETCH_BITS;
      stretches[stretch] = (stretches[stretch] ?? 0) + 1;
    }
  }

  /** The values of the wanted ranks (ascending). */
  orderStatistics(sorted: Float64Array, wanted: readonly number[], found: Float64Array): void {
    const places = this.#places;
    const stretches = this.#stretches;
    let stretch = 0;
    let place = 0;
    // Drawn values before the stretch, and before the place.
    let before = 0;
    let passed = 0;
    for (let i = 0; i < wanted.length; i++) {
      const rank = wanted[i] ?? NaN;
      while (before + (stretches[stretch] ?? NaN) <= rank) {
        before += stretches[stretch++] ?? NaN;
        place = stretch << STRETCH_BITS;
        passed = before;
      }
      while (passed + (places[place] ?? NaN) <= rank) passed += places[place++] ?? NaN;
      found[i] = sorted[place] ?? NaN;
    }
  }
}

/** The interval that holds the middle share of the drawn statistics, which it sorts. */
function middle(drawn: Float64Array, share: number): Interval {
  drawn.sort();
  return [percentile(drawn, (1 - share) / 2), percentile(drawn, (1 + share) / 2)];
}

/** Element i is the sum of the first i values. */
function prefixSums(values: Float64Array): Float64Array {
  const prefix = new Float64Array(values.length + 1);
  let sum = 0;
  for (const [i, value] of values.entries()) {
    sum += value;
    prefix[i + 1] = sum;
  }
  return prefix;
}

/** Every so many of the sorted values stand in a short list that stays in the processor's cache. */
const STRIDE = 256;

/** Where each value is among the same values sorted; equal values are at the place of their first. */
export function placesOf(values: Float64Array, sorted: Float64Array): Uint32Array {
  const marks = new Float64Array(Math.ceil(sorted.length / STRIDE));
  for (let i = 0; i < marks.length; i++) marks[i] = sorted[i * STRIDE] ?? NaN;
  const places = new Uint32Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? NaN;
    const mark = firstNotBelow(marks, value, 0, marks.length);
    const from = mark === 0 ? 0 : (mark - 1) * STRIDE + 1;
    places[i] = firstNotBelow(sorted, value, from, Math.min(mark * STRIDE, sorted.length));
  }
  return places;
}

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
