import { bucketOfEstimate, quantileBounds, fractionBelow, type FractionBelow } from './bounds.ts';
import {
  inOrder,
  lowerEdge,
  upperEdge,
  perBucket,
  total,
  addHistograms,
  sameGrid,
  type ClassicHistogram,
} from './classic-histogram.ts';
import { monotonic } from './quantile.ts';

/** The percentiles that the advice is about, with their quantiles. */
export const ADVISED_QUANTILES = { p50: 0.5, p90: 0.9, p99: 0.99 } as const;

export type AdvisedPercentile = keyof typeof ADVISED_QUANTILES;

/** The interval that a grid leaves for a percentile. */
export interface AdvisedInterval {
  /** (low, high] in the family's unit; high is +Infinity in the overflow bucket. */
  readonly low: number;
  readonly high: number;
  /** Largest minus smallest value in it, in the family's unit; null where an end is infinite. */
  readonly width: number | null;
  /** Width ÷ the middle of the interval, at most 2; null where the width is. */
  readonly relativeWidth: number | null;
  /** Above 1: the two values next to the percentile lie in different buckets, which more observations change. */
  readonly buckets: number;
}

/** A bucket to divide, with the bound that divides it. */
export interface DividedBucket {
  /** (low, high] in the family's unit. */
  readonly low: number;
  readonly high: number;
  readonly bound: number;
}

/** What today's bounds leave uncertain, and which bounds are missing. */
interface BucketAdvice {
  /** Null: there is no such bucket, see `quantileBounds` and `bucketOfEstimate`. */
  readonly intervals: Readonly<Record<AdvisedPercentile, AdvisedInterval | null>>;
  /** Ascending. */
  readonly divided: readonly DividedBucket[];
  /** The last finite bound when a percentile lies above it (-Infinity when there is none); null when none does. */
  readonly missingAbove: number | null;
}

/**
 * How wide p50, p90 and p99 are with the bounds of a histogram, and the fewest bounds that halve that.
 *
 * What lies where within a bucket is unknown. One bound in its middle makes both halves half as wide, wherever the
 * values are, and no other single bound does. So each bucket with a value that decides one of the percentiles gets that
 * bound. The interval is then at most half as wide, unless the two values next to the percentile lie on both sides of a
 * bound: that is a matter of few values, which no grid changes. A percentile in the overflow bucket needs a bound above
 * the last one; how far above is unknown. A first bucket without a lower edge is not divided, nor one of whole numbers up
 * to 1: its bound would be 0.
 *
 * `exact`: true counts; false: counts made by `rate()` or `increase()`, whose interval is the bucket of the estimate and
 * holds nothing for certain. `whole`: the values are whole numbers (tokens), so (1, 2] holds only 2; a first bucket up
 * to 1 holds 0 as well.
 *
 * Null without observations.
 */
export function bucketAdvice(
  given: ClassicHistogram,
  { exact, whole }: { readonly exact: boolean; readonly whole: boolean },
): BucketAdvice | null {
  const h = monotonic(inOrder(given), exact ? 0 : undefined).histogram;
  if (!(total(h) > 0)) return null;
  const values = valuesOf(h.bounds, whole);
  const edges = (q: number): Edges | null => (exact ? quantileBounds(q, h) : bucketOfEstimate(q, h));
  const found = Object.entries(ADVISED_QUANTILES).map(([name, q]) => [name, edges(q)] as const);
  const holding = occupied(h).filter((bucket) =>
    found.some(([, interval]) => interval !== null && bucket.low >= interval.low && bucket.high <= interval.high),
  );
  const overflow = holding.find(({ high }) => high === Infinity);
  return {
    intervals: Object.fromEntries(
      found.map(([name, interval]) => [name, interval && advisedInterval(interval, h.bounds, values)]),
    ) as BucketAdvice['intervals'],
    divided: holding.flatMap((bucket) => divided(bucket, values, whole)),
    missingAbove: overflow === undefined ? null : (h.bounds.at(-2) ?? -Infinity),
  };
}

interface Edges {
  readonly low: number;
  readonly high: number;
}

/** The smallest and the largest value in a part of a grid. */
type Values = (edges: Edges) => readonly [smallest: number, largest: number];

/** The values that can lie between two bounds of a grid; the first bucket includes 0, as no bound excludes it. */
function valuesOf([first = NaN]: readonly number[], whole: boolean): Values {
  if (!whole) return ({ low, high }) => [low, high];
  return ({ low, high }) => {
    const largest = Math.floor(high);
    const includesZero = low === 0 && first > 0;
    return [includesZero ? 0 : Math.min(Math.floor(low) + 1, largest), largest];
  };
}

/** The buckets with observations. */
function occupied(h: ClassicHistogram): Edges[] {
  return perBucket(h).flatMap((count, i) =>
    count > 0 ? [{ low: lowerEdge(h.bounds, i), high: upperEdge(h.bounds, i) }] : [],
  );
}

function advisedInterval({ low, high }: Edges, bounds: readonly number[], values: Values): AdvisedInterval {
  const buckets = bounds.filter((bound) => bound > low && bound <= high).length;
  if (!Number.isFinite(low) || !Number.isFinite(high)) return { low, high, width: null, relativeWidth: null, buckets };
  const [smallest, largest] = values({ low, high });
  const width = largest - smallest;
  const middle = (smallest + largest) / 2;
  return { low, high, width, relativeWidth: middle > 0 ? width / middle : null, buckets };
}

function divided({ low, high }: Edges, values: Values, whole: boolean): DividedBucket[] {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [];
  const [smallest, largest] = values({ low, high });
  const bound = whole ? smallest + Math.floor((largest - smallest) / 2) : middleOf(low, high);
  return bound > low && bound < high && largest > smallest ? [{ low, high, bound }] : [];
}

/** Digits of a bound that are not noise of its computation. */
const DIGITS = 12;

const middleOf = (low: number, high: number): number => Number(((low + high) / 2).toPrecision(DIGITS));

/** Units of values that are measured, not counted. */
const MEASURED =
  /seconds|minutes|hours|days|ratio|percent|per_|\/s$|bytes|celsius|fahrenheit|kelvin|hertz|watts|joules|mixed/;

/**
 * Whether the observed values are whole numbers: they are counted in `unit` (tokens, blocks), and no bound contradicts
 * it. An unknown unit is none of things.
 */
export function hasWholeValues(unit: string | null, bounds: readonly number[]): boolean {
  if (unit === null || MEASURED.test(unit)) return false;
  return bounds.every((bound) => Number.isInteger(bound) || !Number.isFinite(bound));
}

/** One series of a histogram family with what it observed. */
export interface ObservedSeries {
  readonly family: string;
  /** Without `le`. */
  readonly labels: Readonly<Record<string, string>>;
  readonly histogram: ClassicHistogram;
  /** False: made by `rate()` or `increase()`. */
  readonly exact: boolean;
}

/** The series of a family that differ only in the part of the server they come from. */
export interface GroupAdvice extends BucketAdvice {
  /** The labels that they share. */
  readonly labels: Readonly<Record<string, string>>;
  readonly n: number;
  readonly exact: boolean;
  readonly histogram: ClassicHistogram;
}

/** What the bounds of a family leave uncertain, and what narrower buckets cost. */
export interface FamilyAdvice {
  readonly family: string;
  /** Those with observations, most of them first; empty: nothing was observed. */
  readonly groups: readonly GroupAdvice[];
  /** Finite bounds of today, ascending. */
  readonly bounds: readonly number[];
  /** The buckets to divide of all groups, ascending. */
  readonly divided: readonly DividedBucket[];
  /** The highest of the groups; null: no percentile lies above the last bound. */
  readonly missingAbove: number | null;
  /** Series of `_bucket`, `_sum` and `_count` today. */
  readonly series: number;
  /** Further ones with one more bound per bucket to divide. */
  readonly seriesAdded: number;
}

/** Labels that name a part of a server: a process, an engine, a rank, a worker. */
const PART = /^(engine|pid|process|replica|instance|pod|worker|(.*_)?(rank|worker_id|engine_id))$/;

/**
 * The advice on every family of a server, in the order of first appearance. Series of one family with like bounds are
 * added over the parts of the server, as `sum by (le)` would; other labels (a stage, a model) keep them apart.
 * `unitOf` gives the unit of a family, null when it is unknown.
 */
export function familyAdvice(
  all: readonly ObservedSeries[],
  unitOf: (family: string) => string | null,
): FamilyAdvice[] {
  const byFamily = new Map<string, ObservedSeries[]>();
  for (const each of all) {
    const same = byFamily.get(each.family);
    if (same === undefined) byFamily.set(each.family, [each]);
    else same.push(each);
  }
  return Array.from(byFamily, ([family, series]) => adviceOn(family, series, unitOf(family)));
}

function adviceOn(family: string, series: readonly ObservedSeries[], unit: string | null): FamilyAdvice {
  const groups = grouped(series)
    .flatMap((group) => groupAdvice(group, unit))
    .sort((a, b) => b.n - a.n);
  const bounds = ascending(series.flatMap(({ histogram }) => histogram.bounds.filter(Number.isFinite)));
  const divided = [...new Map(groups.flatMap((group) => group.divided).map((each) => [each.bound, each])).values()];
  const missing = groups.flatMap(({ missingAbove }) => (missingAbove === null ? [] : [missingAbove]));
  return {
    family,
    groups,
    bounds,
    divided: divided.sort((a, b) => a.bound - b.bound),
    missingAbove: missing.length === 0 ? null : Math.max(...missing),
    series: series.reduce((sum, { histogram }) => sum + histogram.bounds.length + 2, 0),
    seriesAdded: divided.length * series.length,
  };
}

/** Series that agree in all labels but those of parts, and in their bounds. */
function grouped(series: readonly ObservedSeries[]): ObservedSeries[][] {
  const groups: ObservedSeries[][] = [];
  for (const each of series) {
    const labels = keyOf(sharedLabels(each));
    const group = groups.find(
      ([first]) =>
        first !== undefined &&
        keyOf(sharedLabels(first)) === labels &&
        sameGrid(inOrder(first.histogram).bounds, inOrder(each.histogram).bounds),
    );
    if (group === undefined) groups.push([each]);
    else group.push(each);
  }
  return groups;
}

function groupAdvice(group: readonly ObservedSeries[], unit: string | null): GroupAdvice[] {
  const [first] = group;
  const histogram = addHistograms(group.map((each) => inOrder(each.histogram)));
  if (first === undefined || histogram === null) return [];
  const exact = group.every((each) => each.exact);
  const advice = bucketAdvice(histogram, { exact, whole: hasWholeValues(unit, histogram.bounds) });
  return advice === null ? [] : [{ ...advice, labels: sharedLabels(first), n: total(histogram), exact, histogram }];
}

const sharedLabels = ({ labels }: ObservedSeries): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).filter(([label]) => !PART.test(label)));

const keyOf = (labels: Readonly<Record<string, string>>): string =>
  JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));

const ascending = (bounds: readonly number[]): number[] => [...new Set(bounds)].sort((a, b) => a - b);

/** What the buckets of a histogram know of a limit. */
interface LimitAdvice {
  /** Share of the observations that are at most the limit; `low` equals `high` where the limit is a bound. */
  readonly within: FractionBelow;
  /** The bucket (low, high] that holds the limit; `high` is the limit where that is a bound, and may be infinite. */
  readonly bucket: { readonly low: number; readonly high: number };
  readonly isBound: boolean;
}

/** Null without observations. */
export function limitAdvice(limit: number, given: ClassicHistogram): LimitAdvice | null {
  const { bounds, counts, sum } = inOrder(given);
  const within = fractionBelow(limit, { bounds, counts, sum });
  const index = bounds.findIndex((bound) => bound >= limit);
  if (within === null || index < 0) return null;
  const bucket = { low: lowerEdge(bounds, index), high: upperEdge(bounds, index) };
  return { within, bucket, isBound: bucket.high === limit };
}

/** Largest error of a percentile that lies near a limit, as a share of the limit. */
const ERROR_AT_LIMIT = 0.05;
const BOUND_DIGITS = 3;

/**
 * The bounds that are missing for the limit to be one, with the next ones on both sides at most 5 % away: the share within the
 * limit is then counted, and a percentile near it is off by 5 % at most. `bounds` are those of today.
 */
export function boundsAround(limit: number, bounds: readonly number[]): readonly DividedBucket[] {
  const low = limit / (1 + ERROR_AT_LIMIT);
  const high = limit * (1 + ERROR_AT_LIMIT);
  const has = (test: (bound: number) => boolean): boolean => bounds.some(test);
  const added = [
    ...(has((bound) => bound >= low && bound < limit) ? [] : [rounded(low, Math.ceil)]),
    ...(has((bound) => bound === limit) ? [] : [limit]),
    ...(has((bound) => bound > limit && bound <= high) ? [] : [rounded(high, Math.floor)]),
  ];
  // As wide as halves of this may be, for servers that take no list of bounds.
  return added.map((bound) => ({ low: limit * (1 - ERROR_AT_LIMIT), high: limit * (1 + ERROR_AT_LIMIT), bound }));
}

/** To few digits, toward the limit. */
function rounded(value: number, toward: (value: number) => number): number {
  const scale = 10 ** (BOUND_DIGITS - 1 - Math.floor(Math.log10(value)));
  return Number((toward(value * scale) / scale).toPrecision(BOUND_DIGITS));
}
