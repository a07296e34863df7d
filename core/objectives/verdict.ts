import type { Slo, SloResult } from '../run/objectives.ts';
import type { DistributionResult, MeasureResult } from '../run/result.ts';
import { PERCENTILE_NAMES, PERCENTILES } from '../stats/percentiles.ts';
import type { PercentileName } from '../stats/percentiles.ts';
import { keeps } from './keeps.ts';
import { publishedName } from '../measures/names.ts';
import { valuesNeededByShare, verdictByDistance, verdictByShare } from './verdict-by-share.ts';

/**
 * Whether a run keeps a limit. A percentile is judged by its sampling interval: `met` when all of it keeps the limit,
 * `not_met` when none of it does, else `undecided`. With too few samples for an interval the share of the values beyond the limit
 * decides, where it can (`verdictByShare`), or the distance of all values from it (`verdictByDistance`). A number that is counted over the whole run (a throughput, a ratio, a mean or
 * an extreme) has no such interval: its value decides.
 * Statistics are over ok requests.
 */
export function judgeSlo(slo: Slo, measures: readonly MeasureResult[]): SloResult {
  const result =
    measures.find((each) => each.population !== 'all' && isMeasureOf(slo, each)) ??
    measures.find((each) => isMeasureOf(slo, each));
  if (result === undefined) return undecided(slo, null, 'the run does not have this measure');
  if (result.kind === 'scalar') return byValue(slo, result.value);
  if (isPercentile(slo.stat)) return byInterval(slo, result, slo.stat);
  return byValue(slo, slo.stat === null ? null : result[slo.stat]);
}

/** The name of a result in an SLO: a measure with two clocks is distinguished as in the metrics. */
function isMeasureOf({ measure, stat }: Slo, result: MeasureResult): boolean {
  return publishedName(result) === measure && (result.kind === 'scalar') === (stat === null);
}

function isPercentile(stat: Slo['stat']): stat is PercentileName {
  return PERCENTILE_NAMES.some((name) => name === stat);
}

function byValue(slo: Slo, value: number | null): SloResult {
  if (value === null) return undecided(slo, null, 'the run has no value for it');
  const verdict = keeps(slo.comparison, value, slo.limit) ? 'met' : 'not_met';
  return { ...slo, value, interval: null, verdict, why: 'decided by the value of the whole run' };
}

function byInterval(slo: Slo, result: DistributionResult, stat: PercentileName): SloResult {
  const { value, ci95, bounds } = result.percentiles[stat];
  const interval = ci95 ?? bounds;
  if (value === null) return undecided(slo, null, 'the run has no value for it');
  if (interval === null) return withoutInterval(slo, result, PERCENTILES[stat], value);
  const kept = interval.filter((end) => keeps(slo.comparison, end, slo.limit)).length;
  if (kept === 1) return { ...slo, value, interval, verdict: 'undecided', why: 'the interval contains the limit' };
  return { ...slo, value, interval, verdict: kept === 2 ? 'met' : 'not_met', why: null };
}

function withoutInterval(slo: Slo, result: DistributionResult, quantile: number, value: number): SloResult {
  const byShare = verdictByShare(slo, result, quantile);
  const n = sizeText(result);
  if (byShare !== null) {
    const side = byShare === 'met' ? 'within' : 'beyond';
    const why = `too few samples for an interval (${n}), but more of them are ${side} the limit than chance explains`;
    return { ...slo, value, interval: null, verdict: byShare, why };
  }
  const byDistance = verdictByDistance(slo, result, quantile);
  if (byDistance !== null) {
    const { verdict, share, deviations } = byDistance;
    const [side, other] = verdict === 'met' ? ['within', 'beyond'] : ['beyond', 'within'];
    const rounded = deviations < 10 ? deviations.toPrecision(2) : Math.round(deviations);
    const distance = deviations === Infinity ? '' : ` by ${rounded} standard deviations from their mean`;
    const why =
      `too few samples for an interval (${n}), but all are ${side} the limit${distance}, so that at most ` +
      `${(share * 100).toPrecision(2)} % of values can be expected ${other} it, whatever their distribution (Saw, Yang and Mo)`;
    return { ...slo, value, interval: null, verdict, why };
  }
  return undecided(slo, value, `too few samples for an interval (${n})${neededText(slo, result, quantile)}`);
}

function sizeText({ n, effective_n }: DistributionResult): string {
  const effective =
    effective_n === null || n === null || effective_n >= n ? '' : `, effective ${Math.floor(effective_n)}`;
  return `n = ${n ?? 'unknown'}${effective}`;
}

/** The requests after which a limit that all keep is met by their number alone; dependence makes it more. */
function neededText(slo: Slo, { n, effective_n }: DistributionResult, quantile: number): string {
  if (n === null || effective_n === null || !(effective_n > 0)) return '';
  const requests = Math.ceil(valuesNeededByShare(slo, quantile) * Math.max(1, n / effective_n));
  return requests <= n ? '' : `; about ${requests.toLocaleString('en-US')} requests decide if all are within the limit`;
}

function undecided(slo: Slo, value: number | null, why: string): SloResult {
  return { ...slo, value, interval: null, verdict: 'undecided', why };
}
