import { rankSumNull, signedRankNull } from './rank-null.ts';

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
