import { CAPACITY_MEASURES } from '../../../core/measures/scalar-measures.ts';
import { capitalized, statisticTitle } from '../../../core/measures/names.ts';
import type { CapacityFile } from '../../../core/run/capacity.ts';
import type { KnownInterval } from '../../../core/stats/shift.ts';
import { changeText, percentText } from '../../../core/text/quantities.ts';
import type { ComparedMeasure } from '../../../core/api/comparison.ts';
import { decide, type Decidable, type Decision } from '../decide.ts';
import { detectableRatio, effectRatio, worseUp } from '../evidence.ts';
import type { FigureKey, EffectRatio, Reason } from '../../../core/api/verdict.ts';
import type { Rules } from '../rules.ts';
import { marginOf } from '../rules.ts';
import { capacityInterval, spanOf } from './capacity-interval.ts';

/**
 * The verdict on the capacity of the searches of `b` against that of `a`, all of one load and of the same objectives. The
 * capacity of a set is the span of its searches' intervals, so that the scatter between searches counts as well. The effect
 * is the ratio B ÷ A, its interval from the smallest to the largest that the two spans leave possible, its estimate the
 * geometric middle, or the finite end if the other is unbounded. Decided as any other measure: see `decide`.
 *
 * @throws RangeError when a side is empty
 */
export function compareCapacities(
  a: readonly CapacityFile[],
  b: readonly CapacityFile[],
  rules: Rules,
  isForbidden: boolean,
): ComparedMeasure {
  const [first] = a;
  if (first === undefined || b.length === 0) throw new RangeError('each side needs at least one search');
  const key = keyOf(first);
  const margin = marginOf(rules, key);
  const values = { a: a.map(capacityInterval), b: b.map(capacityInterval), median_a: null, median_b: null };
  const known = { a: values.a.filter(isKnown), b: values.b.filter(isKnown) };
  const decision = decisionOf(key, spanOf(known.a), spanOf(known.b), margin);
  const { verdict, reason } = concluded(decision, [...a, ...b], isForbidden);
  const effect = decision === null ? null : effectOf(key, decision);
  const confidence = Math.max(0, 1 - (2 - leastConfidence(a) - leastConfidence(b)));
  const runs = { a: known.a.length, b: known.b.length };
  const change =
    effect === null
      ? ''
      : `; it changed by ${changeText(effect.estimate)} (${percentText(confidence)} interval ${changeText(effect.low)} to ` +
        `${changeText(effect.high)}), ${runs.a} and ${runs.b} searches, margin ${percentText(margin)}`;
  const because = BECAUSE[reason] === undefined ? '' : `: ${BECAUSE[reason]}`;
  return {
    ...key,
    title: statisticTitle(key),
    gating: true,
    verdict,
    reason,
    sentence: `${capitalized(statisticTitle(key))} is ${verdict}${because}${change}.`,
    effect,
    confidence,
    method: null,
    runs,
    margin,
    detectable: detectableRatio(decision?.detectable ?? null),
    p: null,
    needs: null,
    values,
  };
}

const BECAUSE: Partial<Readonly<Record<Reason, string>>> = {
  preflight: 'the searches are not comparable',
  missing_values: 'a search has no capacity, because a load above one that fails holds, or because no load was decided',
  too_few_runs: 'the bounds of a search are not confirmed by repeats; continue it with its --run-id',
  wide_interval: 'the intervals leave both no change and a change of the margin possible',
  near_margin: 'it changed, but whether by the margin is open',
  unbounded: 'a search found no load that fails, or none that holds',
};

function keyOf({ load, objectives }: CapacityFile): FigureKey {
  const { measure, unit, definition, direction } = CAPACITY_MEASURES[load];
  const under = objectives
    .map(({ text }) => text)
    .sort()
    .join(',');
  return {
    ...{ measure, stat: 'value', unit, definition: `${definition}[${under}]`, direction },
    ...{ origin: 'client', population: 'ok', clock: 'sent' },
  };
}

const isKnown = (interval: KnownInterval | null): interval is KnownInterval => interval !== null;

/** Null when nothing can be said. */
function decisionOf(
  key: FigureKey,
  a: KnownInterval | null,
  b: KnownInterval | null,
  margin: number,
): (Decision & { readonly middle: number }) | null {
  if (a === null || b === null) return null;
  const [from, to] = [worseUp(key, a), worseUp(key, b)];
  // A failing rate is not part of the interval, which the rounding of the logarithms must not undo.
  const [low, high] = [to[0] - from[1] + ROUNDING, to[1] - from[0] - ROUNDING].sort((x, y) => x - y) as [
    number,
    number,
  ];
  const middle = Number.isFinite(low) ? (Number.isFinite(high) ? (low + high) / 2 : low) : high;
  const evidence: Decidable = { estimate: [middle, middle], interval: () => [low, high], history: null };
  return { ...decide(evidence, Math.log1p(margin), 1, 1), middle };
}

const ROUNDING = 1e-12;

function effectOf(key: FigureKey, { interval, middle }: Decision & { readonly middle: number }): EffectRatio | null {
  if (!Number.isFinite(middle)) return null;
  const ratio = (worse: number): number => effectRatio(key, worse);
  return { low: ratio(interval[1]), estimate: ratio(middle), high: ratio(interval[0]) };
}

function concluded(
  decision: Decision | null,
  searches: readonly CapacityFile[],
  isForbidden: boolean,
): Pick<Decision, 'verdict' | 'reason'> {
  const undecided = (reason: Reason): Pick<Decision, 'verdict' | 'reason'> => ({ verdict: 'undecided', reason });
  if (isForbidden) return undecided('preflight');
  if (decision === null || searches.some((search) => capacityInterval(search) === null))
    return undecided('missing_values');
  if (searches.some(({ confirmed }) => !confirmed)) return undecided('too_few_runs');
  return decision;
}

const leastConfidence = (searches: readonly CapacityFile[]): number =>
  Math.min(...searches.map(({ confidence }) => confidence));
