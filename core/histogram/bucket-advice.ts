import { bucketOfEstimate } from './bucket-of-estimate.ts';
import { quantileBounds } from './bounds.ts';
import { inOrder } from './classic-histogram.ts';
import type { ClassicHistogram } from './classic-histogram.ts';
import { lowerEdge, upperEdge } from './edges.ts';
import { monotonic } from './monotonic.ts';
import { perBucket } from './per-bucket.ts';
import { total } from './total.ts';

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
export interface BucketAdvice {
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
