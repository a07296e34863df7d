import { binomialTail } from '../../../core/stats/binomial-tail.ts';
import { dependence } from '../../../core/stats/dependence.ts';
import { nextValueBound } from '../../../core/stats/next-value-bound.ts';
import { percentile } from '../../../core/stats/percentiles.ts';
import { placesOf } from '../../../core/stats/places.ts';
import { studentTTail } from '../../../core/stats/student-t.ts';
import type { ProbeVerdict } from '../../../core/run/capacity.ts';
import type { ObjectiveTest } from './objective-test.ts';

/** What the requests so far say about an objective. */
export interface ObjectiveJudgment {
  readonly verdict: ProbeVerdict;
  /** False: a verdict without a probability of error, which is good enough to choose the next load. */
  readonly isConclusive: boolean;
  /** The percentile, mean or ratio; null without values, or if too many requests failed for a finite value. */
  readonly value: number | null;
  readonly n: number;
  /** n as independent values would give the same certainty. */
  readonly effectiveN: number;
  /** Number of values beyond the limit. */
  readonly beyond: number;
}

/** The tests of values that all lie on one side of the limit need so many independent values. */
const MIN_WITHIN = 10;
const MIN_BEYOND = 5;
/** Independent values that a mean requires. */
const MIN_FOR_MEAN = 10;

/**
 * Judges an objective from its values in the order in which the requests were sent. `level`: the largest probability of each
 * of the two wrong verdicts at this look.
 *
 * A percentile or ratio is judged by the number of values beyond its limit (a sign test, exact binomial, for any
 * distribution), with the effective sample size instead of n, because neighboring requests depend on each other. If all
 * values are on one side and far from the limit, their distance decides (`nextValueBound`: Saw, Yang and Mo), which takes
 * fewer requests. Such a "holds" is conclusive when so many requests, counted one by one, would not all keep the limit by chance;
 * before, a rare slow kind of requests may be missing. A mean is judged by Student's t.
 */
export function judgeObjective(test: ObjectiveTest, values: Float64Array, level: number): ObjectiveJudgment {
  const n = values.length;
  if (n === 0) return { verdict: 'undecided', isConclusive: true, value: null, n, effectiveN: 0, beyond: 0 };
  const sorted = values.slice().sort();
  const isBeyond = Float64Array.from(values, (value) => Number(test.isBeyond(value)));
  const beyond = isBeyond.reduce((sum, each) => sum + each, 0);
  const effectiveN = effectiveSize(values, sorted, isBeyond);
  const moments = momentsOf(values);
  const facts = { n, effectiveN, beyond, ...moments };
  const shown = { value: valueOf(test, sorted, facts), n, effectiveN, beyond };
  if (test.allowedBeyond === null) return { verdict: byMean(test, facts, level), isConclusive: true, ...shown };
  const verdict = byShare(test.allowedBeyond, facts, level);
  if (verdict !== 'undecided') return { verdict, isConclusive: true, ...shown };
  const guess = byDistance(test, test.allowedBeyond, facts);
  const isConclusive = guess !== 'holds' || (1 - test.allowedBeyond) ** n <= level;
  return { verdict: guess, isConclusive, ...shown };
}

interface Facts {
  readonly n: number;
  readonly effectiveN: number;
  readonly beyond: number;
  readonly mean: number;
  /** With divisor n − 1. */
  readonly deviation: number;
}

/** The smaller one of the ranks of the values and of "beyond the limit or not". */
function effectiveSize(values: Float64Array, sorted: Float64Array, isBeyond: Float64Array): number {
  const ranks = Float64Array.from(placesOf(values, sorted));
  return Math.min(dependence(ranks).effectiveSampleSize, dependence(isBeyond).effectiveSampleSize);
}

function byShare(allowed: number, { n, effectiveN, beyond }: Facts, level: number): ProbeVerdict {
  const size = Math.floor(effectiveN);
  const share = beyond / n;
  if (binomialTail(size, allowed, Math.floor(size * share)) <= level) return 'fails';
  return binomialTail(size, 1 - allowed, Math.floor(size * (1 - share))) <= level ? 'holds' : 'undecided';
}

function byDistance({ slo, quantile }: ObjectiveTest, allowed: number, facts: Facts): ProbeVerdict {
  const { n, effectiveN, beyond, mean, deviation } = facts;
  const size = Math.floor(effectiveN);
  // A ratio has no distance.
  if (quantile === null || !Number.isFinite(mean) || (beyond > 0 && beyond < n)) return 'undecided';
  const deviations = deviation > 0 ? Math.abs(slo.limit - mean) / deviation : Infinity;
  if (beyond === 0) return size >= MIN_WITHIN && nextValueBound(size, deviations) <= allowed ? 'holds' : 'undecided';
  return size >= MIN_BEYOND && nextValueBound(size, deviations) <= 1 - allowed ? 'fails' : 'undecided';
}

function byMean(test: ObjectiveTest, { effectiveN, mean, deviation }: Facts, level: number): ProbeVerdict {
  if (effectiveN < MIN_FOR_MEAN) return 'undecided';
  const verdict = test.isBeyond(mean) ? 'fails' : 'holds';
  if (deviation === 0) return verdict;
  const t = Math.abs(mean - test.slo.limit) / (deviation / Math.sqrt(effectiveN));
  return studentTTail(t, Math.floor(effectiveN) - 1) <= level ? verdict : 'undecided';
}

function momentsOf(values: Float64Array): Pick<Facts, 'mean' | 'deviation'> {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, deviation: values.length < 2 ? 0 : Math.sqrt(squares / (values.length - 1)) };
}

function valueOf({ quantile, allowedBeyond, slo }: ObjectiveTest, sorted: Float64Array, facts: Facts): number | null {
  const isGoodRatio = slo.comparison === '>' || slo.comparison === '>=';
  const ratio = isGoodRatio ? 1 - facts.beyond / facts.n : facts.beyond / facts.n;
  const value = quantile !== null ? percentile(sorted, quantile) : allowedBeyond === null ? facts.mean : ratio;
  return Number.isFinite(value) ? value : null;
}
