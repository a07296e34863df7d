import { parseBound } from './parse-bound.ts';

/**
 * One classic Prometheus histogram at one moment, or a difference of two.
 *
 * The three fields mirror `_bucket`, and `_sum`; `_count` is the last element of `counts`, see `total`.
 */
export interface ClassicHistogram {
  /** Upper edges ("le") in strictly ascending order, in the family's unit, normally ending in +Infinity. */
  readonly bounds: readonly number[];
  /** Observations <= the bound of the same index: cumulative. Not whole numbers when made by `rate()`. */
  readonly counts: readonly number[];
  /** Sum of all observed values in the family's unit; null = unknown. */
  readonly sum: number | null;
}

/**
 * Builds a histogram from buckets in any order.
 *
 * As in Prometheus' `histogram_quantile`, the counts of buckets with the same bound ("1" and "1.0") are added, and a
 * bucket whose `le` is no number, or NaN, is omitted: the other buckets are cumulative and stay correct without it.
 */
export function classicHistogram(
  pairs: Iterable<readonly [le: string, count: number]>,
  sum: number | null = null,
): ClassicHistogram {
  const buckets: [bound: number, count: number][] = [];
  for (const [le, count] of pairs) {
    const bound = parseBound(le);
    if (bound !== null) buckets.push([bound, count]);
  }
  return fromBuckets(buckets, sum);
}

/** The same histogram with its bounds in strictly ascending order; counts of equal bounds are added. */
export function inOrder(h: ClassicHistogram): ClassicHistogram {
  if (isAscending(h.bounds)) return h;
  return fromBuckets(
    h.bounds.map((bound, i) => [bound, h.counts[i] ?? NaN]),
    h.sum,
  );
}

function isAscending(bounds: readonly number[]): boolean {
  for (let i = 1; i < bounds.length; i++) if (!((bounds[i] ?? NaN) > (bounds[i - 1] ?? NaN))) return false;
  return true;
}

function fromBuckets(buckets: [bound: number, count: number][], sum: number | null): ClassicHistogram {
  buckets.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const bounds: number[] = [];
  const counts: number[] = [];
  for (const [bound, count] of buckets) {
    const last = bounds.length - 1;
    if (bounds[last] === bound) counts[last] = (counts[last] ?? 0) + count;
    else {
      bounds.push(bound);
      counts.push(count);
    }
  }
  return { bounds, counts, sum };
}
