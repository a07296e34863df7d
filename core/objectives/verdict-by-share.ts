import type { ComparisonOperator, Objective } from '../run/objectives.ts';
import type { DistributionResult } from '../run/result.ts';
import { binomialTail } from '../stats/binomial-tail.ts';
import { nextValueBound } from '../stats/next-value-bound.ts';
import { PERCENTILE_NAMES, PERCENTILES } from '../stats/percentiles.ts';

/** On each side, as in a 95 % interval. */
const CHANCE = 0.025;

/**
 * Judges a percentile by how many values are beyond its limit: a sign test, which needs no interval and so fewer values.
 * If the percentile kept an upper limit, at most 1 - q of the values would be beyond it but for chance: `not_met` when so
 * many as there are would be beyond it with a probability of 2.5 % at most; `met` likewise; else null. The shares are
 * those that the stated percentiles warrant, of `effective_n` values.
 */
export function verdictByShare(
  objective: Objective,
  result: DistributionResult,
  quantile: number,
): 'met' | 'not_met' | null {
  if (result.n === null || result.effective_n === null) return null;
  const n = Math.floor(result.effective_n);
  const upper = objective.comparison === '<' || objective.comparison === '<=';
  const allowedBeyond = upper ? 1 - quantile : quantile;
  const within = (value: number): boolean => satisfies(objective.comparison, value, objective.limit);
  const beyond = leastShare(result, result.n, upper ? 'above' : 'below', (value) => !within(value));
  if (binomialTail(n, allowedBeyond, Math.floor(n * beyond)) <= CHANCE) return 'not_met';
  const kept = leastShare(result, result.n, upper ? 'below' : 'above', within);
  return binomialTail(n, 1 - allowedBeyond, Math.floor(n * kept)) <= CHANCE ? 'met' : null;
}

export interface VerdictByDistance {
  readonly verdict: 'met' | 'not_met';
  /** The largest share of further values to be expected on the other side of the limit. */
  readonly share: number;
  /** From the mean to the limit, in standard deviations; infinite when all values are equal. */
  readonly deviations: number;
}

/**
 * Judges a percentile when every value lies on one side of its limit and far from it: by the largest share of further values
 * that can be expected on the other side, whatever their distribution (`nextValueBound`), of `effective_n` values. Null when
 * that share leaves the percentile open.
 */
export function verdictByDistance(
  objective: Objective,
  result: DistributionResult,
  quantile: number,
): VerdictByDistance | null {
  const { min, max, mean, std, effective_n } = result;
  if (min === null || max === null || mean === null || std === null || effective_n === null) return null;
  const n = Math.floor(effective_n);
  const minKept = satisfies(objective.comparison, min, objective.limit);
  if (n < 2 || minKept !== satisfies(objective.comparison, max, objective.limit)) return null;
  const deviation = std * Math.sqrt(n / (n - 1));
  const deviations = deviation > 0 ? Math.abs(objective.limit - mean) / deviation : Infinity;
  const share = nextValueBound(n, deviations);
  const upper = objective.comparison === '<' || objective.comparison === '<=';
  const allowedBeyond = upper ? 1 - quantile : quantile;
  // A sum of floating-point numbers must not decide.
  const allowed = (minKept ? allowedBeyond : 1 - allowedBeyond) + 1e-12;
  return share <= allowed ? { verdict: minKept ? 'met' : 'not_met', share, deviations } : null;
}

/** Independent values with which `verdictByShare` finds a limit met that all of them keep. */
export function valuesNeededByShare({ comparison }: Objective, quantile: number): number {
  const allowedBeyond = comparison === '<' || comparison === '<=' ? 1 - quantile : quantile;
  return Math.ceil(Math.log(CHANCE) / Math.log1p(-allowedBeyond));
}

/** The share of the n values that are certainly so, when those that are lie at one end of the distribution. */
function leastShare(
  result: DistributionResult,
  n: number,
  end: 'above' | 'below',
  isSo: (value: number) => boolean,
): number {
  const shares = statedValues(result).map(({ share, value }): number => {
    if (!isSo(value)) return 0;
    // A percentile lies between the order statistics around rank (n - 1) share, counted from 0.
    const rank = (n - 1) * share;
    return end === 'above' ? (n - Math.ceil(rank)) / n : (Math.floor(rank) + 1) / n;
  });
  return Math.max(0, ...shares);
}

function statedValues(result: DistributionResult): { share: number; value: number }[] {
  const percentiles = PERCENTILE_NAMES.map((name) => ({
    share: PERCENTILES[name],
    value: result.percentiles[name].value,
  }));
  const all = [{ share: 0, value: result.min }, ...percentiles, { share: 1, value: result.max }];
  return all.flatMap(({ share, value }) => (value === null ? [] : [{ share, value }]));
}

/** Whether a value is on the right side of a limit. */
export function satisfies(comparison: ComparisonOperator, value: number, limit: number): boolean {
  switch (comparison) {
    case '<':
      return value < limit;
    case '<=':
      return value <= limit;
    case '>':
      return value > limit;
    case '>=':
      return value >= limit;
  }
}
