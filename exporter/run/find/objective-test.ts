import { ExpectedError } from '../../errors/expected-error.ts';
import { GOODPUT_MEASURES, goodRequest } from '../../../core/measures/goodput.ts';
import { DISTRIBUTION_MEASURES, type PerRequestMeasure } from '../../../core/measures/measures.ts';
import { publishedName } from '../../../core/measures/names.ts';
import { figuresOf } from '../../../core/measures/request-figures.ts';
import { SCALAR_MEASURES } from '../../../core/measures/scalar-measures.ts';
import { satisfies } from '../../../core/objectives/verdict.ts';
import type { ProbeVerdict } from '../../../core/run/capacity.ts';
import type { GoodputLimit, Objective } from '../../../core/run/objectives.ts';
import type { RequestRecord } from '../../../core/run/record.ts';
import { binomialTail, nextValueBound, studentTTail } from '../../../core/stats/distributions.ts';
import { dependence } from '../../../core/stats/dependence.ts';
import { PERCENTILE_NAMES, PERCENTILES, percentile, type PercentileName } from '../../../core/stats/percentiles.ts';
import { placesOf } from '../../../core/stats/block-bootstrap.ts';

/** How a search reads an objective from requests, one value per request. */
export interface ObjectiveTest {
  readonly slo: Objective;
  /**
   * The objective holds if at most this share of the requests has a value beyond the limit; null: if the mean of the values
   * keeps the limit.
   */
  readonly allowedBeyond: number | null;
  /** The percentile that the objective names; null: a mean or a ratio. */
  readonly quantile: number | null;
  /**
   * The value of a request; null if it has none. A failed request is beyond every limit, so that a server that rejects
   * requests under load does not pass. In a mean it has no value.
   */
  value(record: RequestRecord): number | null;
  isBeyond(value: number): boolean;
}

/** Throws an `ExpectedError` that says what is supported. */
export function objectiveTest(slo: Objective, goodput: readonly GoodputLimit[]): ObjectiveTest {
  const measure = measureOf(slo);
  if (measure !== undefined) return ofMeasure(slo, measure);
  if (slo.measure === SCALAR_MEASURES.error_ratio.measure && isUpper(slo))
    return ofRatio(slo, slo.limit, ({ outcome }) => outcome !== 'ok');
  if (slo.measure === GOODPUT_MEASURES.good_request_ratio.measure && !isUpper(slo)) {
    if (goodput.length === 0) throw new ExpectedError('refused', `${slo.measure} requires --goodput`);
    const isGood = goodRequest(goodput);
    return ofRatio(slo, 1 - slo.limit, (record) => record.outcome !== 'ok' || !isGood(record));
  }
  throw new ExpectedError(
    'refused',
    `${slo.measure} cannot be decided request by request: --find supports percentiles and means of measures with one value ` +
      'per request, error_ratio with an upper limit and good_request_ratio with a lower limit',
  );
}

const isUpper = ({ comparison }: Objective): boolean => comparison === '<' || comparison === '<=';

function measureOf({ measure, stat }: Objective): PerRequestMeasure | undefined {
  if (stat === null) return undefined;
  return DISTRIBUTION_MEASURES.find(
    (each): each is PerRequestMeasure => each.value !== null && publishedName(each) === measure,
  );
}

function ofMeasure(slo: Objective, measure: PerRequestMeasure): ObjectiveTest {
  const { stat } = slo;
  const isBeyond = (value: number): boolean => !satisfies(slo.comparison, value, slo.limit);
  const ofOk = ({ outcome, ...record }: RequestRecord): number | null =>
    outcome === 'ok' ? measure.value(figuresOf({ outcome, ...record })) : null;
  if (stat === 'mean') return { slo, allowedBeyond: null, quantile: null, value: ofOk, isBeyond };
  if (!isPercentile(stat)) {
    throw new ExpectedError(
      'refused',
      `the ${stat ?? 'value'} of ${slo.measure} cannot be decided by a sample: --find supports percentiles and means`,
    );
  }
  const quantile = PERCENTILES[stat];
  const beyondAll = isUpper(slo) ? Infinity : -Infinity;
  return {
    slo,
    allowedBeyond: isUpper(slo) ? 1 - quantile : quantile,
    quantile,
    value: (record) => (record.outcome === 'ok' ? ofOk(record) : beyondAll),
    isBeyond,
  };
}

function isPercentile(stat: Objective['stat']): stat is PercentileName {
  return PERCENTILE_NAMES.some((name) => name === stat);
}

function ofRatio(slo: Objective, allowed: number, isBad: (record: RequestRecord) => boolean): ObjectiveTest {
  if (!(allowed > 0 && allowed < 1)) {
    throw new ExpectedError(
      'refused',
      `no number of requests shows that ${slo.measure} is exactly 0 or 1: --find requires a limit between, such as ` +
        'error_ratio<=1%',
    );
  }
  return {
    slo,
    allowedBeyond: allowed,
    quantile: null,
    value: (record) => Number(isBad(record)),
    isBeyond: (value) => value === 1,
  };
}

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
