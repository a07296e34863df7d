import { publishedName } from '../measures/names.ts';
import { VERDICTS_WORST_FIRST, type Objective, type ObjectiveResult } from '../run/objectives.ts';
import type { DistributionResult, MeasureResult, StageResult } from '../run/result.ts';
import { PERCENTILE_NAMES, PERCENTILES } from '../stats/percentiles.ts';
import type { PercentileName } from '../stats/percentiles.ts';
import { satisfies, valuesNeededByShare, verdictByDistance, verdictByShare } from './verdict-by-share.ts';

/**
 * Whether a run keeps a limit. A percentile is judged by its sampling interval: `met` when all of it keeps the limit,
 * `not_met` when none of it does, else `undecided`. With too few samples for an interval the share of the values beyond the
 * limit decides, where it can (`verdictByShare`), or the distance of all values from it (`verdictByDistance`). A number that
 * is counted over the whole run (a throughput, a ratio, a mean or an extreme) has no such interval: its value decides.
 * Statistics are over ok requests.
 */
export function objectiveResult(objective: Objective, measures: readonly MeasureResult[]): ObjectiveResult {
  const result =
    measures.find((each) => each.population !== 'all' && isMeasureOf(objective, each)) ??
    measures.find((each) => isMeasureOf(objective, each));
  if (result === undefined) return undecided(objective, null, 'the run does not have this measure');
  if (result.kind === 'scalar') return byValue(objective, result.value);
  if (isPercentile(objective.stat)) return byInterval(objective, result, objective.stat);
  return byValue(objective, objective.stat === null ? null : result[objective.stat]);
}

/** The name of a result in an SLO: a measure with two clocks is distinguished as in the metrics. */
function isMeasureOf({ measure, stat }: Objective, result: MeasureResult): boolean {
  return publishedName(result) === measure && (result.kind === 'scalar') === (stat === null);
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
export function worstOfStages(
  stages: readonly Pick<StageResult, 'slos'>[],
  objective: Objective,
  at: number,
): ObjectiveResult {
  const verdicts = stages.map(({ slos }) => slos[at]);
  for (const verdict of VERDICTS_WORST_FIRST) {
    const stage = verdicts.findIndex((each) => each?.verdict === verdict);
    const found = verdicts[stage];
    if (found === undefined) continue;
    const where = verdict === 'met' ? 'in every stage; shown: stage 1' : `stage ${stage + 1} of ${stages.length}`;
    return { ...found, why: found.why === null ? where : `${where}: ${found.why}` };
  }
  return { ...objective, value: null, interval: null, verdict: 'undecided', why: 'the run has no stage' };
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
