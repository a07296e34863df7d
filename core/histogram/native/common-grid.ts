import type { ClassicHistogram } from '../classic-histogram.ts';
import { coarserIndex, exponentialBound } from './exponential-bound.ts';
import type { NativeHistogram } from './native-histogram.ts';

/** Observations in (low, high], or [low, high) below 0. */
interface CountedInterval {
  low: number;
  high: number;
  count: number;
}

/**
 * Native histograms as classic ones of one grid, so that they can be subtracted, added and used for bounds.
 *
 * Buckets are brought to the coarsest of the schemas and to the widest of the zero buckets, which loses no observation;
 * the grid then has the edges of every bucket that is not empty in one of them. An edge below 0 belongs to the bucket
 * above it. A zero bucket beside positive buckets only reaches from 0, as in Prometheus. NaN observations lie beyond
 * the last bucket. Null: custom bounds that differ, or custom and exponential ones together: their buckets cannot be
 * brought together.
 */
export function onCommonGrid(histograms: readonly NativeHistogram[]): ClassicHistogram[] | null {
  const [first] = histograms;
  if (first === undefined) return [];
  const custom = first.customBounds;
  if (histograms.some(({ customBounds }) => !sameBounds(custom, customBounds))) return null;
  if (custom !== null) return histograms.map((h) => onCustomBounds(h, custom));
  return onExponentialGrid(histograms);
}

/** One native histogram as a classic one with the same observations: see `onCommonGrid`. */
export function classicOfNative(histogram: NativeHistogram): ClassicHistogram {
  return (onCommonGrid([histogram]) ?? [])[0] ?? { bounds: [Infinity], counts: [NaN], sum: null };
}

function sameBounds(a: readonly number[] | null, b: readonly number[] | null): boolean {
  if (a === null || b === null) return a === b;
  return a.length === b.length && a.every((bound, i) => bound === b[i]);
}

function onCustomBounds(h: NativeHistogram, custom: readonly number[]): ClassicHistogram {
  const counts = new Array<number>(custom.length + 1).fill(0);
  for (const { index, count } of h.positive) counts[index] = (counts[index] ?? 0) + count;
  for (let i = 1; i < counts.length; i++) counts[i] = (counts[i] ?? 0) + (counts[i - 1] ?? 0);
  counts[custom.length] = h.count;
  return { bounds: [...custom, Infinity], counts, sum: finite(h.sum) };
}

function onExponentialGrid(histograms: readonly NativeHistogram[]): ClassicHistogram[] {
  const schema = Math.min(...histograms.map((h) => h.schema));
  const sides = histograms.map((h) => ({
    positive: atSchema(h, h.positive, schema),
    negative: atSchema(h, h.negative, schema),
  }));
  const threshold = commonThreshold(histograms, sides);
  const reaches = (intervals: readonly CountedInterval[]): boolean => intervals.some(({ high }) => high > threshold);
  const onlyPositive =
    sides.some(({ positive }) => reaches(positive)) && !sides.some(({ negative }) => reaches(negative));
  const views = histograms.map((h, i) => {
    const positive = outsideZero(sides[i]?.positive ?? [], threshold);
    const negative = outsideZero(sides[i]?.negative ?? [], threshold);
    const zero = h.zeroCount + positive.inZero + negative.inZero;
    const zeroLow = onlyPositive ? 0 : -threshold;
    return [
      ...negative.outside.map(({ low, high, count }) => ({ low: -high, high: -low, count })).reverse(),
      // A zero bucket without width is a point: an edge just below keeps it from reaching to -Infinity.
      ...(zero > 0 ? [{ low: threshold === 0 ? -Number.MIN_VALUE : zeroLow, high: threshold, count: zero }] : []),
      ...positive.outside,
    ];
  });
  const bounds = edges(views.flat());
  return views.map((view, i) => cumulative(view, bounds, histograms[i] as NativeHistogram));
}

/**
 * The buckets of one side that are not empty, as distances from 0, in a schema that is as coarse or coarser. All of them when
 * all are empty: for Prometheus a side exists that has buckets, and the zero bucket then reaches across 0.
 */
function atSchema(h: NativeHistogram, buckets: NativeHistogram['positive'], schema: number): CountedInterval[] {
  const counts = new Map<number, number>();
  const allEmpty = buckets.every(({ count }) => count === 0);
  for (const { index, count } of buckets) {
    if (count === 0 && !allEmpty) continue;
    const coarser = coarserIndex(index, h.schema, schema);
    counts.set(coarser, (counts.get(coarser) ?? 0) + count);
  }
  return Array.from(counts, ([index, count]) => ({
    low: exponentialBound(index - 1, schema),
    high: exponentialBound(index, schema),
    count,
  }));
}

/** The widest zero bucket, widened until its edge lies in no other histogram's bucket (as Prometheus reconciles them). */
function commonThreshold(
  histograms: readonly NativeHistogram[],
  sides: readonly { readonly positive: readonly CountedInterval[]; readonly negative: readonly CountedInterval[] }[],
): number {
  let threshold = Math.max(...histograms.map((h) => h.zeroThreshold));
  for (let before = NaN; before !== threshold;) {
    before = threshold;
    for (const [i, { positive, negative }] of sides.entries()) {
      if ((histograms[i]?.zeroThreshold ?? NaN) === before) continue;
      for (const { low, high } of [...positive, ...negative]) if (low < threshold && threshold < high) threshold = high;
    }
  }
  return threshold;
}

/** Buckets beyond the zero bucket, and how many observations of the others it takes over. */
function outsideZero(
  buckets: readonly CountedInterval[],
  threshold: number,
): { outside: CountedInterval[]; inZero: number } {
  const outside: CountedInterval[] = [];
  let inZero = 0;
  for (const { low, high, count } of buckets) {
    if (high <= threshold) inZero += count;
    else outside.push({ low: Math.max(low, threshold), high, count });
  }
  return { outside: outside.sort((a, b) => a.low - b.low), inZero };
}

/** All edges in ascending order, then +Infinity. A lower edge of 0 is that of every first bucket and is left out. */
function edges(intervals: readonly CountedInterval[]): number[] {
  const all = new Set<number>([Infinity]);
  for (const { low, high } of intervals) all.add(low).add(high);
  const sorted = Float64Array.from(all).sort();
  return sorted[0] === 0 && !intervals.some(({ high }) => high === 0) ? [...sorted.subarray(1)] : [...sorted];
}

function cumulative(view: readonly CountedInterval[], bounds: readonly number[], h: NativeHistogram): ClassicHistogram {
  let next = 0;
  let total = 0;
  const counts = bounds.map((bound) => {
    for (let interval = view[next]; interval !== undefined && interval.high <= bound; interval = view[++next])
      total += interval.count;
    return total;
  });
  counts[counts.length - 1] = h.count;
  return { bounds, counts, sum: finite(h.sum) };
}

const finite = (sum: number): number | null => (Number.isFinite(sum) ? sum : null);
