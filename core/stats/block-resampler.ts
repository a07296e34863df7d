import { interpolate } from './interpolate.ts';
import type { Interval, Intervals } from './interval.ts';
import { percentile } from './percentiles.ts';
import { position } from './position.ts';
import { sfc32 } from './random.ts';

export interface ResamplingPlan {
  readonly blockLength: number;
  readonly resamples: number;
  readonly seed: number;
  readonly confidence: number;
}

/**
 * Intervals of percentiles and mean by the percentile method. Draws moving-block resamples (Künsch 1989): blocks of consecutive values, their starts uniform, laid end to end up
 * to the original number of values, the last one cut.
 *
 * A resample is never sorted: each value is counted at its place in the sorted original, and one pass over those counts
 * meets all order statistics.
 *
 * @param values in the order of time; `sorted` the same values ascending
 */
export function resampleBlocks(
  values: Float64Array,
  sorted: Float64Array,
  quantiles: readonly number[],
  plan: ResamplingPlan,
): Intervals {
  const n = values.length;
  const places = Uint32Array.from(values, (value) => position(sorted, value));
  const wanted = [...new Set(quantiles.flatMap((q) => neighbours(q, n)))].sort((a, b) => a - b);
  const prefix = prefixSums(values);
  const next = sfc32(plan.seed);
  const starts = n - plan.blockLength + 1;
  const counts = new Uint32Array(n);
  const drawnQuantiles = quantiles.map(() => new Float64Array(plan.resamples));
  const drawnMeans = new Float64Array(plan.resamples);
  for (let resample = 0; resample < plan.resamples; resample++) {
    counts.fill(0);
    let sum = 0;
    for (let drawn = 0; drawn < n; drawn += plan.blockLength) {
      const start = Math.floor((next() / 2 ** 32) * starts);
      const end = start + Math.min(plan.blockLength, n - drawn);
      for (let i = start; i < end; i++) {
        const place = places[i] ?? 0;
        counts[place] = (counts[place] ?? 0) + 1;
      }
      sum += (prefix[end] ?? NaN) - (prefix[start] ?? NaN);
    }
    drawnMeans[resample] = sum / n;
    const found = orderStatistics(counts, sorted, wanted);
    for (const [i, q] of quantiles.entries()) {
      const [below, above] = neighbours(q, n);
      const value = interpolate(found.get(below) ?? NaN, found.get(above) ?? NaN, (n - 1) * q - below);
      drawnQuantiles[i]?.fill(value, resample, resample + 1);
    }
  }
  return {
    quantiles: drawnQuantiles.map((drawn) => middle(drawn, plan.confidence)),
    mean: middle(drawnMeans, plan.confidence),
  };
}

/** The interval that holds the middle share of the drawn statistics, which it sorts. */
function middle(drawn: Float64Array, share: number): Interval {
  drawn.sort();
  return [percentile(drawn, (1 - share) / 2), percentile(drawn, (1 + share) / 2)];
}

/** Ranks (from 0) of the order statistics between which the q-th percentile of n values lies. */
function neighbours(q: number, n: number): [below: number, above: number] {
  const below = Math.floor((n - 1) * q);
  return [below, Math.min(below + 1, n - 1)];
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

/** The values of the wanted ranks (ascending) when `counts` tells how often each sorted value was drawn. */
function orderStatistics(counts: Uint32Array, sorted: Float64Array, wanted: readonly number[]): Map<number, number> {
  const found = new Map<number, number>();
  let reached = 0;
  let place = -1;
  for (const rank of wanted) {
    while (reached <= rank) {
      place++;
      reached += counts[place] ?? 0;
    }
    found.set(rank, sorted[place] ?? NaN);
  }
  return found;
}
