import type { Interval } from './interval.ts';
import { rankSumNull, signedRankNull, type RankNull } from './rank-null.ts';

/** A value that is known exactly (low = high) or only to lie in an interval. Ends may be infinite. */
export type KnownInterval = readonly [low: number, high: number];

/**
 * The shift between two samples, by ranks: Hodges and Lehmann's estimate and the interval that inverts the exact test
 * (Hodges and Lehmann, Annals of Mathematical Statistics 34, 1963).
 *
 * Values that are known only as intervals are taken at every corner: all results are monotone in every value, so the
 * two corners in which the shift is smallest and largest hold all others between them. Ties and zeros count against a
 * decision: a difference of 0 supports neither direction, and the tests are conservative then.
 */
export interface Shift {
  /** From the smallest corner to the largest; both are the same when the values are exact. */
  readonly estimate: KnownInterval;
  /** One-sided p-values, each of the corner that supports it least. */
  readonly p: { readonly up: number; readonly down: number; readonly twoSided: number };
  readonly exact: boolean;
  /** The interval of confidence at least 1 − alpha over all corners; infinite when there are too few values for it. */
  readonly interval: (alpha: number) => Interval;
}

/** The shift of paired values, by the signed-rank test on their differences (second − first). Needs at least one. */
export function pairedShift(differences: readonly KnownInterval[]): Shift {
  const n = differences.length;
  const averages = (end: 0 | 1): Float64Array => {
    const walsh = new Float64Array((n * (n + 1)) / 2);
    let filled = 0;
    for (let i = 0; i < n; i++) {
      for (let j = i; j < n; j++) {
        const sum = (differences[i]?.[end] ?? NaN) + (differences[j]?.[end] ?? NaN);
        walsh[filled++] = known(sum / 2, end);
      }
    }
    return walsh.sort();
  };
  return shift(averages, signedRankNull(n));
}

/** The shift from `a` to `b`, unpaired, by the rank-sum test. Each needs at least one value. */
export function unpairedShift(a: readonly KnownInterval[], b: readonly KnownInterval[]): Shift {
  const differences = (end: 0 | 1): Float64Array => {
    const pairwise = new Float64Array(a.length * b.length);
    let filled = 0;
    for (const from of a) for (const to of b) pairwise[filled++] = difference(from, to)[end];
    return pairwise.sort();
  };
  return shift(differences, rankSumNull(a.length, b.length));
}

/** `to` − `from`; unknown when both are infinite. */
export function difference(from: KnownInterval, to: KnownInterval): KnownInterval {
  return [known(to[0] - from[1], 0), known(to[1] - from[0], 1)];
}

/** `elementary` gives the Walsh averages or pairwise differences of the smallest (0) or largest (1) corner, ascending. */
function shift(elementary: (end: 0 | 1) => Float64Array, none: RankNull): Shift {
  const low = elementary(0);
  const high = elementary(1);
  const up = none.tail(count(low, (value) => value > 0));
  const down = none.tail(count(high, (value) => value < 0));
  return {
    estimate: [middle(low, 0), middle(high, 1)],
    p: { up, down, twoSided: Math.min(1, 2 * Math.min(up, down)) },
    exact: none.exact,
    interval: (alpha) => {
      const k = none.critical(alpha / 2);
      // Beyond half of them only with alpha near 1: the interval is then the estimate's neighborhood.
      const place = Math.min(k, Math.ceil(low.length / 2));
      return place === 0 ? [-Infinity, Infinity] : [low[place - 1] ?? NaN, high[high.length - place] ?? NaN];
    },
  };
}

function count(values: Float64Array, counts: (value: number) => boolean): number {
  let found = 0;
  for (const value of values) if (counts(value)) found++;
  return found;
}

function middle(sorted: Float64Array, end: 0 | 1): number {
  const half = sorted.length >> 1;
  const above = sorted[half] ?? NaN;
  return sorted.length % 2 === 1 ? above : known(((sorted[half - 1] ?? NaN) + above) / 2, end);
}

/** The sum of opposite infinities is not a number: it can be anything. */
function known(value: number, end: 0 | 1): number {
  return Number.isNaN(value) ? (end === 0 ? -Infinity : Infinity) : value;
}
