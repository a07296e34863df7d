import { normalCdf, normalQuantile } from './distributions.ts';

/** A confidence interval: both ends in the unit of the values. */
export type Interval = [low: number, high: number];

/** Intervals of several percentiles and of the mean. */
export interface Intervals {
  /** One per quantile requested. */
  quantiles: Interval[];
  mean: Interval;
}

/**
 * The distribution of a rank statistic when there is no shift: of the signed-rank statistic (the number of Walsh averages
 * above 0) or of the rank-sum statistic (the number of pairwise differences above 0). It is symmetric over 0 to `largest`.
 */
interface RankNull {
  /** The largest value of the statistic: how many Walsh averages or pairwise differences there are. */
  readonly largest: number;
  /** False: the normal approximation with continuity correction, for samples too large to count. */
  readonly exact: boolean;
  /** P(statistic ≥ count) */
  readonly tail: (count: number) => number;
  /** The largest k with P(statistic ≤ k − 1) ≤ p; 0 when there is none, so that the sample can decide nothing at p. */
  readonly critical: (p: number) => number;
}

/** Numbers of arrangements up to this are counted exactly in a double. */
const COUNTABLE = 2 ** 53;
/** Rounding of sums of probabilities; two probabilities that should be equal may differ by this share. */
const ROUNDING = 1e-9;
const REMEMBERED = 200;
const remembered = new Map<string, RankNull>();

/** Of `n` differences; Wilcoxon, Biometrics Bulletin 1 (1945). Exact up to 53 differences. */
export function signedRankNull(n: number): RankNull {
  return remember(`s${n}`, () => {
    const largest = (n * (n + 1)) / 2;
    if (2 ** n > COUNTABLE) return normal(largest, Math.sqrt((n * (n + 1) * (2 * n + 1)) / 24));
    // Each rank is added or not: the subsets of 1 to n by their sum.
    const ways = new Float64Array(largest + 1);
    ways[0] = 1;
    for (let rank = 1; rank <= n; rank++) {
      for (let sum = largest; sum >= rank; sum--) ways[sum] = at(ways, sum) + at(ways, sum - rank);
    }
    return counted(ways, 2 ** n);
  });
}

/**
 * Of samples of `m` and `n` values; Mann and Whitney, Annals of Mathematical Statistics 18 (1947). Exact while the
 * C(m + n, m) arrangements are at most 2^53: up to 28 and 28 values, or 3 and thousands.
 */
export function rankSumNull(m: number, n: number): RankNull {
  const [fewer, more] = m < n ? [m, n] : [n, m];
  return remember(`u${fewer},${more}`, () => {
    const largest = fewer * more;
    let arrangements = 1;
    for (let i = 1; i <= fewer && arrangements <= COUNTABLE; i++) arrangements *= (more + i) / i;
    if (arrangements > COUNTABLE) return normal(largest, Math.sqrt((m * n * (m + n + 1)) / 12));
    // The Gaussian binomial coefficient: the product of (1 − q^(more + i)) / (1 − q^i), coefficient by coefficient.
    const ways = new Float64Array(largest + 1);
    ways[0] = 1;
    for (let i = 1; i <= fewer; i++) {
      for (let u = largest; u >= more + i; u--) ways[u] = at(ways, u) - at(ways, u - more - i);
      for (let u = i; u <= largest; u++) ways[u] = at(ways, u) + at(ways, u - i);
    }
    return counted(ways, Math.round(arrangements));
  });
}

function counted(ways: Float64Array, arrangements: number): RankNull {
  const largest = ways.length - 1;
  const upTo = new Float64Array(ways.length);
  let sum = 0;
  for (const [count, some] of ways.entries()) upTo[count] = (sum += some) / arrangements;
  return {
    largest,
    exact: true,
    tail: (count) => (count <= 0 ? 1 : count > largest ? 0 : at(upTo, largest - count)),
    critical: (p) => {
      let k = 0;
      while (k <= largest && at(upTo, k) <= p * (1 + ROUNDING)) k++;
      return k;
    },
  };
}

function normal(largest: number, deviation: number): RankNull {
  const middle = largest / 2;
  return {
    largest,
    exact: false,
    tail: (count) => (count <= 0 ? 1 : count > largest ? 0 : normalCdf((middle - count + 0.5) / deviation)),
    critical: (p) => (p >= 1 ? largest + 1 : Math.max(0, Math.floor(middle + normalQuantile(p) * deviation + 0.5))),
  };
}

function remember(key: string, make: () => RankNull): RankNull {
  const known = remembered.get(key);
  if (known !== undefined) return known;
  const made = make();
  if (remembered.size >= REMEMBERED) remembered.clear();
  remembered.set(key, made);
  return made;
}

function at(values: Float64Array, index: number): number {
  return values[index] ?? NaN;
}

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

/**
 * The fewest pairs with which the exact two-sided signed-rank test can reject at alpha ÷ `hypotheses`, the hardest step
 * of Holm's procedure: all pairs differ in the same direction, which has probability 2 ÷ 2^n.
 */
export function fewestPairs(hypotheses: number, alpha: number): number {
  return fewest((n) => signedRankNull(n).critical(alpha / hypotheses / 2) > 0);
}

/** The fewest runs of each of two equal sets with which the exact two-sided rank-sum test can reject; see `fewestPairs`. */
export function fewestRunsPerSet(hypotheses: number, alpha: number): number {
  return fewest((n) => decides(n, n, hypotheses, alpha));
}

/** The fewest runs that can be distinguished from a set of `others` runs by the rank-sum test; null: no number can. */
export function fewestRunsAgainst(others: number, hypotheses: number, alpha: number): number | null {
  const most = 1000;
  const found = fewest((n) => n > most || decides(others, n, hypotheses, alpha));
  return found > most ? null : found;
}

function decides(m: number, n: number, hypotheses: number, alpha: number): boolean {
  return rankSumNull(m, n).critical(alpha / hypotheses / 2) > 0;
}

function fewest(enough: (n: number) => boolean): number {
  let n = 1;
  while (!enough(n)) n++;
  return n;
}
