import { lowerEdge, upperEdge, perBucket, total, type ClassicHistogram } from './classic-histogram.ts';

/** Schema of histograms whose bounds are listed instead of computed. */
export const CUSTOM_BUCKETS_SCHEMA = -53;

/** One bucket: positive ones hold (low, high], negative ones [low, high), custom ones (low, high]. */
export interface NativeBucket {
  /** Place in the schema: bucket i of schema s ends (for negative ones: begins, mirrored) at 2^(i·2^-s). */
  readonly index: number;
  readonly low: number;
  readonly high: number;
  /** Observations in this bucket alone. Not whole in a histogram of floats. */
  readonly count: number;
}

/**
 * A native histogram of Prometheus at one moment (specification "Native Histograms"). Values are in the family's unit.
 */
export interface NativeHistogram {
  /** −4 to 8: each power of 2 is divided into 2^schema buckets. `CUSTOM_BUCKETS_SCHEMA`: bounds as listed. */
  readonly schema: number;
  /** The zero bucket holds [−zeroThreshold, zeroThreshold]. */
  readonly zeroThreshold: number;
  readonly zeroCount: number;
  /** All observations; those that were NaN are in no bucket. */
  readonly count: number;
  /** NaN when NaN, or both infinities, were observed. */
  readonly sum: number;
  /** Ascending by index; those between the spans are empty and left out. */
  readonly positive: readonly NativeBucket[];
  /** Ascending by index: from 0 downwards. */
  readonly negative: readonly NativeBucket[];
  /** Upper bounds of the custom buckets but the last, which ends at +Infinity; null with an exponential schema. */
  readonly customBounds: readonly number[] | null;
}

export const MIN_SCHEMA = -4;
export const MAX_SCHEMA = 8;

/**
 * Bounds between 0.5 and 1 by schema. Computed as the table that Prometheus and its client libraries share was: each
 * second bound is that of the schema before, the others are the one before them times the growth factor. Theirs of schema 1
 * is √2 rounded down; the observations were sorted by it, so it is kept.
 */
const FRACTIONS: readonly Float64Array[] = fractions();

function fractions(): Float64Array[] {
  const tables: Float64Array[] = [];
  for (let schema = 0; schema <= MAX_SCHEMA; schema++) {
    const factor = schema === 1 ? 1.414213562373095 : 2 ** (2 ** -schema);
    const table = new Float64Array(2 ** schema).fill(0.5);
    for (let i = 1; i < table.length; i++)
      table[i] = i % 2 === 0 ? (tables[schema - 1]?.[i / 2] ?? NaN) : (table[i - 1] as number) * factor;
    tables.push(table);
  }
  return tables;
}

/**
 * Upper bound of the positive bucket of an index in an exponential schema, to the last digit as `getBoundExponential` of
 * Prometheus (model/histogram/generic.go): the last bucket of finite numbers ends at the largest of them, the next one
 * holds +Infinity.
 */
export function exponentialBound(index: number, schema: number): number {
  const perPower = 2 ** schema;
  const exponent = Math.floor(index / perPower);
  if (exponent === 1024 && index === 1024 * perPower) return Number.MAX_VALUE;
  if (schema < 0) return 2 ** (index / perPower);
  const fraction = FRACTIONS[schema]?.[index - exponent * perPower] ?? NaN;
  return fraction * 2 * 2 ** exponent;
}

/** The bucket of a coarser schema that holds the bucket of this index in a finer one. */
export function coarserIndex(index: number, from: number, to: number): number {
  return Math.ceil(index / 2 ** (from - to));
}

/**
 * Prometheus' `histogram_quantile` of a native histogram with an exponential schema (`HistogramQuantile`,
 * promql/quantile.go), here in the form of `onCommonGrid` or of a difference of two of those: inside a bucket the rank is
 * interpolated on a logarithmic scale, in the zero bucket linearly.
 *
 * Special cases: q NaN or no observations: NaN; q < 0: −Infinity; q > 1: +Infinity; rank among NaN observations: NaN. It
 * is an estimate, and never leaves its bucket; `quantileBounds` says how far it can be from the truth. (Histograms with custom bounds are interpolated
 * linearly: `histogramQuantile`.)
 */
export function exponentialQuantile(q: number, h: ClassicHistogram): number {
  const observations = total(h);
  if (Number.isNaN(q) || !(observations > 0)) return NaN;
  if (q < 0) return -Infinity;
  if (q > 1) return Infinity;
  const { bounds } = h;
  const counts = perBucket(h);
  // From the nearer end, for the last digits; without a sum there may be NaN observations, which only come last.
  const forward = h.sum === null || q < 0.5;
  const wanted = (forward ? q : 1 - q) * observations;
  const filled = [...counts.keys()].filter((i) => (counts[i] ?? 0) > 0);
  if (!forward) filled.reverse();
  let seen = 0;
  let bucket = -1;
  for (const i of filled) {
    bucket = i;
    seen += counts[i] ?? 0;
    if (seen >= wanted) break;
  }
  const count = counts[bucket] ?? NaN;
  const rank = forward ? wanted - (seen - count) : seen - wanted;
  const low = lowerEdge(bounds, bucket);
  const high = upperEdge(bounds, bucket);
  if (high === Infinity && low !== Number.MAX_VALUE) return NaN;
  return interpolated(low === -Number.MIN_VALUE ? 0 : low, high, rank / count, bounds);
}

function interpolated(low: number, high: number, fraction: number, bounds: readonly number[]): number {
  if (low <= 0 && high >= 0) {
    // Beside negative buckets only, the zero bucket ends at 0.
    const onlyNegative = (bounds[0] ?? NaN) < low && bounds.at(-2) === high;
    return low + ((onlyNegative ? 0 : high) - low) * fraction;
  }
  const from = Math.log2(Math.abs(low));
  const to = Math.log2(Math.abs(high));
  const value = low > 0 ? 2 ** (from + (to - from) * fraction) : -(2 ** (to + (from - to) * (1 - fraction)));
  // Rounding may lead out of the bucket.
  return Math.min(high, Math.max(low, value));
}

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
