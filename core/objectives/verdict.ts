import { measureOfName, publishedName } from '../measures/names.ts';
import { objectiveText } from './grammar.ts';
import {
  VERDICTS_WORST_FIRST,
  worstVerdict,
  type ComparisonOperator,
  type Objective,
  type ObjectiveResult,
} from '../run/objectives.ts';
import type { BreakdownResult, DistributionResult, MeasureResult, StageResult } from '../run/result.ts';
import type { Unit } from '../run/statistic.ts';
import { binomialTail, nextValueBound } from '../stats/distributions.ts';
import { PERCENTILE_NAMES, PERCENTILES, type PercentileName } from '../stats/percentiles.ts';

/** On each side, as in a 95 % interval. */
const CHANCE = 0.025;

/**
 * Judges a percentile by how many values are beyond its limit: a sign test, which needs no interval and so fewer values.
 * If the percentile kept an upper limit, at most 1 - q of the values would be beyond it but for chance: `not_met` when so
 * many as there are would be beyond it with a probability of 2.5 % at most; `met` likewise; else null. The shares are
 * those that the stated percentiles warrant, of `effective_n` values.
 */
function verdictByShare(objective: Objective, result: DistributionResult, quantile: number): 'met' | 'not_met' | null {
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
function verdictByDistance(
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
function valuesNeededByShare({ comparison }: Objective, quantile: number): number {
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

/**
 * Whether a run keeps a limit. A percentile is judged by its sampling interval: `met` when all of it keeps the limit,
 * `not_met` when none of it does, else `undecided`. With too few samples for an interval the share of the values beyond the
 * limit decides, where it can (`verdictByShare`), or the distance of all values from it (`verdictByDistance`). A number that
 * is counted over the whole run (a throughput, a ratio, a mean or an extreme) has no such interval: its value decides.
 * Statistics are over ok requests. `parts`: the populations that an objective of some of the requests is about.
 */
export function objectiveResult(
  objective: Objective,
  inTotal: readonly MeasureResult[],
  parts: readonly Pick<BreakdownResult, 'by' | 'value' | 'measures'>[] = [],
): ObjectiveResult {
  const { breakdown } = measureOfName(objective.measure);
  const part = parts.find(({ by, value }) => `${by}=${value}` === breakdown);
  const measures = breakdown === undefined ? inTotal : (part?.measures ?? []);
  const result =
    measures.find((each) => each.population !== 'all' && isMeasureOf(objective, each)) ??
    measures.find((each) => isMeasureOf(objective, each));
  if (breakdown !== undefined && part === undefined)
    return undecided(objective, null, `the run has no requests of ${breakdown}`);
  if (result === undefined) return undecided(objective, null, 'the run does not have this measure');
  if (result.kind === 'scalar') return byValue(objective, result.value);
  if (isPercentile(objective.stat)) return byInterval(objective, result, objective.stat);
  return byValue(objective, objective.stat === null ? null : result[objective.stat]);
}

/** The name of a result in an SLO: a measure with two clocks is distinguished as in the metrics. */
function isMeasureOf({ measure, stat }: Objective, result: MeasureResult): boolean {
  const whole = publishedName({ ...measureOfName(measure), breakdown: undefined });
  return publishedName(result) === whole && (result.kind === 'scalar') === (stat === null);
}

function isPercentile(stat: Objective['stat']): stat is PercentileName {
  return PERCENTILE_NAMES.some((name) => name === stat);
}

function byValue(objective: Objective, value: number | null): ObjectiveResult {
  if (value === null) return undecided(objective, null, 'the run has no value for it');
  const verdict = satisfies(objective.comparison, value, objective.limit) ? 'met' : 'not_met';
  return { ...objective, value, interval: null, verdict, why: 'decided by the value of the whole run' };
}

function byInterval(objective: Objective, result: DistributionResult, stat: PercentileName): ObjectiveResult {
  const { value, ci95, bounds } = result.percentiles[stat];
  const interval = ci95 ?? bounds;
  if (value === null) return undecided(objective, null, 'the run has no value for it');
  if (interval === null) return withoutInterval(objective, result, PERCENTILES[stat], value);
  const kept = interval.filter((end) => satisfies(objective.comparison, end, objective.limit)).length;
  if (kept === 1)
    return { ...objective, value, interval, verdict: 'undecided', why: 'the interval contains the limit' };
  return { ...objective, value, interval, verdict: kept === 2 ? 'met' : 'not_met', why: null };
}

function withoutInterval(
  objective: Objective,
  result: DistributionResult,
  quantile: number,
  value: number,
): ObjectiveResult {
  const byShare = verdictByShare(objective, result, quantile);
  const n = sizeText(result);
  if (byShare !== null) {
    const side = byShare === 'met' ? 'within' : 'beyond';
    const why = `too few samples for an interval (${n}), but more of them are ${side} the limit than chance explains`;
    return { ...objective, value, interval: null, verdict: byShare, why };
  }
  const byDistance = verdictByDistance(objective, result, quantile);
  if (byDistance !== null) {
    const { verdict, share, deviations } = byDistance;
    const [side, other] = verdict === 'met' ? ['within', 'beyond'] : ['beyond', 'within'];
    const rounded = deviations < 10 ? deviations.toPrecision(2) : Math.round(deviations);
    const distance = deviations === Infinity ? '' : ` by ${rounded} standard deviations from their mean`;
    const why =
      `too few samples for an interval (${n}), but all are ${side} the limit${distance}, so that at most ` +
      `${(share * 100).toPrecision(2)} % of values can be expected ${other} it, whatever their distribution (Saw, Yang and Mo)`;
    return { ...objective, value, interval: null, verdict, why };
  }
  return undecided(
    objective,
    value,
    `too few samples for an interval (${n})${neededText(objective, result, quantile)}`,
  );
}

/**
 * A limit over the stages of a run, of which each has its own verdict: the worst one, because figures of requests at
 * different loads have no common distribution.
 */
export function worstOfStages(stages: readonly Pick<StageResult, 'slos'>[], objective: Objective): ObjectiveResult {
  const text = objectiveText(objective);
  const verdicts = stages.map(({ slos }) => slos.find((slo) => objectiveText(slo) === text));
  for (const verdict of VERDICTS_WORST_FIRST) {
    const stage = verdicts.findIndex((each) => each?.verdict === verdict);
    const found = verdicts[stage];
    if (found === undefined) continue;
    const where = verdict === 'met' ? 'in every stage; shown: stage 1' : `stage ${stage + 1} of ${stages.length}`;
    return { ...found, why: found.why === null ? where : `${where}: ${found.why}` };
  }
  return { ...objective, value: null, interval: null, verdict: 'undecided', why: 'the run has no stage' };
}

/** Units of which the requests of one model have a part: a limit of these is of the whole run. */
const DIVIDED_UNITS: ReadonlySet<Unit> = new Set([
  'requests',
  'requests_per_second',
  'tokens_per_second',
  'joules',
  'watts',
]);

/** Whether a limit is of some of the requests, such as first turns. */
export const isOfPart = ({ measure }: Pick<Objective, 'measure'>): boolean => measure.endsWith('}');

/** Whether a limit holds for each part of the requests as for all: of latencies, lengths and ratios, not of throughputs. */
export function holdsForParts({ unit, measure }: Pick<Objective, 'unit' | 'measure'>): boolean {
  return !DIVIDED_UNITS.has(unit) && !isOfPart({ measure });
}

/** A limit over all requests, and over those of each value of a dimension: the worst verdict, and of which value it is. */
export function worstOfParts(
  inTotal: ObjectiveResult,
  parts: readonly Pick<BreakdownResult, 'by' | 'value' | 'slos'>[],
): ObjectiveResult {
  const text = objectiveText(inTotal);
  const found = parts.flatMap(({ by, value, slos = [] }) =>
    slos.filter((slo) => objectiveText(slo) === text).map((slo) => ({ where: `${by} ${value}`, slo })),
  );
  const worst = worstVerdict([inTotal, ...found.map(({ slo }) => slo)]) ?? inTotal.verdict;
  if (worst === inTotal.verdict) return inTotal;
  const [first, ...more] = found.filter(({ slo }) => slo.verdict === worst);
  if (first === undefined) return inTotal;
  const others = more.length === 0 ? '' : ` and ${more.length} more`;
  const inAll = `${inTotal.verdict.replace('_', ' ')} over all requests`;
  const why = [`${first.where}${others}`, inAll, first.slo.why].filter((part) => part !== null).join('; ');
  return { ...first.slo, why };
}

function sizeText({ n, effective_n }: DistributionResult): string {
  const effective =
    effective_n === null || n === null || effective_n >= n ? '' : `, effective ${Math.floor(effective_n)}`;
  return `n = ${n ?? 'unknown'}${effective}`;
}

/** The requests after which a limit that all keep is met by their number alone; dependence makes it more. */
function neededText(objective: Objective, { n, effective_n }: DistributionResult, quantile: number): string {
  if (n === null || effective_n === null || !(effective_n > 0)) return '';
  const requests = Math.ceil(valuesNeededByShare(objective, quantile) * Math.max(1, n / effective_n));
  return requests <= n ? '' : `; about ${requests.toLocaleString('en-US')} requests decide if all are within the limit`;
}

function undecided(objective: Objective, value: number | null, why: string): ObjectiveResult {
  return { ...objective, value, interval: null, verdict: 'undecided', why };
}
