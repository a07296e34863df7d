import type { PreflightFinding } from '../../core/api/verdict.ts';
import { dependentMean, meanBesideDays } from '../../core/stats/dependence.ts';
import { middle } from '../../core/stats/robust-shift.ts';
import { things } from '../../core/text/quantities.ts';
import { casesOf, keyText, type FigureCase } from './cases.ts';
import { doubtsFrom, type Doubt } from './judge-cases.ts';
import { preflight } from './preflight.ts';
import type { PairedSlices } from './recorded-slices.ts';
import type { Rules } from './rules.ts';
import type { RunFigures } from './run-figures.ts';

/**
 * The chance that what slices have in common with those before them is taken for a change of any gating measure
 * (`npm run bench -- judge` measures the false alarms).
 */
const LEVEL = 0.008;
/** Fewer days say less of the variation than the pairs themselves. */
const MIN_DAYS = 5;

/** Pairs of slices, with the days that had the load of the pairs. */
export interface ComparableSlices extends PairedSlices {
  readonly findings: readonly PreflightFinding[];
}

/** Leaves out the days on which A had another load: how it varied then says nothing of these slices. */
export function onComparableDays(slices: PairedSlices): ComparableSlices {
  const { a, days } = slices;
  const isComparable = (day: readonly RunFigures[]): boolean =>
    preflight(a, day).every(({ outcome }) => outcome !== 'failed');
  const like = days.filter(isComparable);
  if (days.length === 0) return { ...slices, findings: [] };
  const others = days.length - like.length;
  const left =
    others === 0 ? '' : ` ${things(others, 'days')} with another load ${others === 1 ? 'is' : 'are'} left out.`;
  const enough = like.length >= MIN_DAYS;
  const sentence = enough
    ? `How much A varies without a change is known from ${things(like.length, 'other days')}.${left}`
    : `How much A varies without a change is not known: that takes ${MIN_DAYS} other days with its load, and it has ${like.length}.${left}`;
  const finding: PreflightFinding = {
    check: 'earlier_days',
    outcome: enough ? 'accepted' : 'unknown',
    run_ids: like.flat().map(({ run_id }) => run_id),
    sentence,
  };
  return { ...slices, days: enough ? like : [], findings: [finding] };
}

/**
 * By `keyText`, what a change must reach before it is no dependence of slices, of which those of one process resemble each
 * other: what A varies from day to day where other days are known, else the ratios of the pairs with any dependence that they do not exclude.
 */
export function sliceDoubts({ a, b, days }: PairedSlices, rules: Rules): ReadonlyMap<string, Doubt> {
  const usable = casesOf(a, b, rules).filter((each) => each.problem === null && hasFigures(each));
  const ofDays = days.map((day) => new Map(casesOf(day, b, rules).map((each) => [keyText(each.key), each])));
  const doubts = [true, false].flatMap((gates) => {
    const cases = usable.filter(({ place }) => gates === place >= 0);
    const means = cases.map(({ key, a: from, b: to }) => {
      const differences = to.map((value, i) => middle(value) - middle(from[i] ?? [NaN, NaN]));
      const known = ofDays.flatMap((cases) => {
        const found = cases.get(keyText(key));
        return found?.problem === null && hasFigures(found) ? [found.a.map(middle)] : [];
      });
      return known.length < MIN_DAYS ? dependentMean(differences) : meanBesideDays(differences, known);
    });
    return doubtsFrom(cases, means, { gates, level: LEVEL, reason: 'dependent_slices' });
  });
  return new Map(doubts);
}

const hasFigures = ({ a, b }: FigureCase): boolean => [...a, ...b].every((value) => value.every(Number.isFinite));
