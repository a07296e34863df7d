import type { Slo, SloResult } from '../run/gates.ts';
import type { DistributionResult, MeasureResult } from '../run/result.ts';
import { PERCENTILE_NAMES, PERCENTILES } from '../stats/percentiles.ts';
import type { PercentileName } from '../stats/percentiles.ts';
import { keeps } from './keeps.ts';
import { verdictByShare } from './verdict-by-share.ts';

/**
 * Whether a run keeps a limit. A percentile is judged by its sampling interval: `met` when all of it keeps the limit,
 * `not_met` when none of it does, else `undecided`. With too few samples for an interval the share of the values beyond the limit
 * decides, where it can (`verdictByShare`). A number that is counted over the whole run (a throughput, a ratio, a mean or
 * an extreme) has no such interval: its value decides.
 * Statistics are over ok requests.
 */
export function judgeSlo(slo: Slo, measures: readonly MeasureResult[]): SloResult {
  const result =
    measures.find((each) => each.population !== 'all' && isMeasureOf(slo, each)) ??
    measures.find((each) => isMeasureOf(slo, each));
  if (result === undefined) return undecided(slo, null, 'this run has no such measure');
  if (result.kind === 'scalar') return byValue(slo, result.value);
  if (isPercentile(slo.stat)) return byInterval(slo, result, slo.stat);
  return byValue(slo, slo.stat === null ? null : result[slo.stat]);
}

/** The name of a result in an SLO: a measure with two clocks is told apart as in the metrics. */
function isMeasureOf({ measure, stat }: Slo, result: MeasureResult): boolean {
  const fromDue = result.clock === 'due' && result.measure !== 'schedule_delay';
  const name = fromDue ? `${result.measure}_from_due` : result.measure;
  return name === measure && (result.kind === 'scalar') === (stat === null);
}

function isPercentile(stat: Slo['stat']): stat is PercentileName {
  return PERCENTILE_NAMES.some((name) => name === stat);
}

function byValue(slo: Slo, value: number | null): SloResult {
  if (value === null) return undecided(slo, null, 'this run has no value of it');
  const verdict = keeps(slo.comparison, value, slo.limit) ? 'met' : 'not_met';
  return { ...slo, value, interval: null, verdict, why: 'the value of the whole run decides' };
}

function byInterval(slo: Slo, result: DistributionResult, stat: PercentileName): SloResult {
  const { value, ci95, bounds } = result.percentiles[stat];
  const interval = ci95 ?? bounds;
  if (value === null) return undecided(slo, null, 'this run has no value of it');
  if (interval === null) return withoutInterval(slo, result, PERCENTILES[stat], value);
  const kept = interval.filter((end) => keeps(slo.comparison, end, slo.limit)).length;
  if (kept === 1) return { ...slo, value, interval, verdict: 'undecided', why: 'the interval holds the limit' };
  return { ...slo, value, interval, verdict: kept === 2 ? 'met' : 'not_met', why: null };
}

function withoutInterval(slo: Slo, result: DistributionResult, quantile: number, value: number): SloResult {
  const verdict = verdictByShare(slo, result, quantile);
  const n = `n = ${result.n ?? 'unknown'}`;
  if (verdict === null) return undecided(slo, value, `too few samples for an interval (${n})`);
  const side = verdict === 'met' ? 'within' : 'beyond';
  const why = `too few samples for an interval (${n}), but too many of them are ${side} the limit for chance`;
  return { ...slo, value, interval: null, verdict, why };
}

function undecided(slo: Slo, value: number | null, why: string): SloResult {
  return { ...slo, value, interval: null, verdict: 'undecided', why };
}
