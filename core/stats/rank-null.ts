import { normalCdf } from './normal-cdf.ts';
import { normalQuantile } from './normal-quantile.ts';

/**
 * The distribution of a rank statistic when there is no shift: of the signed-rank statistic (the number of Walsh averages
 * above 0) or of the rank-sum statistic (the number of pairwise differences above 0). It is symmetric over 0 to `largest`.
 */
export interface RankNull {
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
