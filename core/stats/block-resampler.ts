import { interpolate } from './interpolate.ts';
import type { Interval, Intervals } from './interval.ts';
import { percentile, percentilePlace } from './percentiles.ts';
import { sfc32 } from './seeded-random.ts';

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
export function resampleBlocks(
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
  const drawnQuantiles = quantiles.map(() => new Float64Array(resamples));
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
    ranks.forEach(({ below, above, weight }, i) => {
      const drawn = drawnQuantiles[i];
      if (drawn !== undefined) drawn[resample] = interpolate(found[below] ?? NaN, found[above] ?? NaN, weight);
    });
  }
  return {
    quantiles: drawnQuantiles.map((drawn) => middle(drawn, plan.confidence)),
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
    let before = 0;
    wanted.forEach((rank, i) => {
      while (before + (stretches[stretch] ?? NaN) <= rank) before += stretches[stretch++] ?? NaN;
      let place = stretch << STRETCH_BITS;
      for (let reached = before + (places[place] ?? NaN); reached <= rank; reached += places[place] ?? NaN) place++;
      found[i] = sorted[place] ?? NaN;
    });
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
