import type {
  FigureKey,
  Design,
  EffectRatio,
  MeasureVerdict,
  Needs,
  PValue,
  Reason,
  VerdictName,
  PreflightFinding,
} from '../../core/api/verdict.ts';
import { capitalized, statisticTitle } from '../../core/measures/names.ts';
import { benjaminiHochberg, holm, holmLevels } from '../../core/stats/multiple-testing.ts';
import { MIN_LOOK } from '../../core/stats/robust-shift.ts';
import type { Interval, KnownInterval } from '../../core/stats/shift.ts';
import { orderedShifts } from '../../core/stats/trend.ts';
import { things } from '../../core/text/quantities.ts';
import { keyText, casesOf, type FigureCase } from './cases.ts';
import type { RunFigures } from './run-figures.ts';
import { decide, HISTORY_INTERVAL, furtherRuns, missingRuns, type Decision, type Size } from './decide.ts';
import {
  detectableRatio,
  effectRatio,
  lowerIsWorse,
  UNUSUAL,
  type Evidence,
  type HistoryEvidence,
} from './evidence.ts';
import type { Rules } from './rules.ts';
import { evidenceSentence } from './sentences.ts';

export interface JudgedHow {
  /** The chance of any false alarm among the measures that gate. */
  readonly alpha: number;
  readonly design: Design;
  readonly evidenceOf: (each: FigureCase) => Evidence;
  /** Whether preflight forbids any verdict. */
  readonly forbidden: boolean;
  /** Figures whose history cannot be trusted to be independent, by `keyText`. */
  readonly doubts: ReadonlyMap<string, Doubt>;
}

/** The verdict on every figure. Only the gating ones share the chance of a false alarm. */
export function judgeCases(cases: readonly FigureCase[], how: JudgedHow): readonly MeasureVerdict[] {
  const evidences = cases.map((each) =>
    each.problem !== null || each.a.length === 0 || each.b.length === 0 ? null : how.evidenceOf(each),
  );
  const tests = severalMeasures(cases, evidences, how);
  const gating = cases.filter(({ place }) => place >= 0).length;
  const judged = cases.map((each, i): Judged => {
    const evidence = evidences[i] ?? null;
    const test = tests[i] ?? null;
    const margin = Math.log1p(each.margin);
    const decision = evidence && test && decide(evidence, margin, test.level, how.alpha);
    return { each, evidence, decision, test };
  });
  const byKey = new Map(judged.map((one) => [keyText(one.each.key), one]));
  return judged.map((one) => verdictOn(one, byKey, gating, how));
}

/** The shift that is left when a trend and a dependence of the runs are taken out: it has to exclude no change as well. */
export interface Doubt {
  readonly reason: 'time_order' | 'dependent_slices';
  /** On the scale of the evidence. */
  readonly low: number;
  readonly high: number;
}

interface Judged {
  readonly each: FigureCase;
  readonly evidence: Evidence | null;
  readonly decision: Decision | null;
  readonly test: Test | null;
}

interface Test {
  /** Of the interval. */
  readonly level: number;
  readonly p: PValue;
}

/** Holm for the figures that gate, Benjamini and Hochberg for the others. */
function severalMeasures(
  cases: readonly FigureCase[],
  evidences: readonly (Evidence | null)[],
  { alpha }: JudgedHow,
): readonly Test[] {
  const ps = evidences.map((evidence) => evidence?.p ?? 1);
  const gates = cases.map(({ place }) => place >= 0);
  const gatingPs = ps.filter((_, i) => gates[i]);
  const otherPs = ps.filter((_, i) => !gates[i] && evidences[i] !== null);
  const gating = { adjusted: holm(gatingPs).values(), levels: holmLevels(gatingPs, alpha).values() };
  const others = benjaminiHochberg(otherPs).values();
  return ps.map((raw, i) => {
    if (gates[i]) {
      const adjusted = gating.adjusted.next().value ?? 1;
      return { level: gating.levels.next().value ?? alpha, p: { raw, adjusted, adjustment: 'holm' } };
    }
    const adjusted = evidences[i] === null ? 1 : (others.next().value ?? 1);
    return { level: alpha, p: { raw, adjusted, adjustment: 'benjamini_hochberg' } };
  });
}

function verdictOn(one: Judged, byKey: ReadonlyMap<string, Judged>, gating: number, how: JudgedHow): MeasureVerdict {
  const { each, evidence, decision, test } = one;
  const { key, margin, place, a, b } = each;
  const runs = { a: a.length, b: evidence?.history?.runs ?? b.length };
  const facts = { ...key, gating: place >= 0, runs, margin };
  if (evidence === null || decision === null || test === null) {
    const reason = each.problem?.reason ?? 'missing_values';
    const sentence = `${capitalized(statisticTitle(key))} is undecided: ${each.problem?.sentence ?? 'one side has no value'}.`;
    const nothing = { effect: null, confidence: null, method: null, detectable: null, p: null };
    return { ...facts, ...nothing, verdict: 'undecided', reason, sentence, needs: each.problem?.needs ?? null };
  }
  const { verdict, reason } = conclude(one, byKey, how);
  const effect = effectOf(key, evidence.estimate, decision.interval);
  const judged: Omit<MeasureVerdict, 'sentence'> = {
    ...facts,
    verdict,
    reason,
    effect,
    confidence: 1 - (evidence.history === null ? test.level : HISTORY_INTERVAL),
    method: evidence.method,
    detectable: detectableRatio(detectableOf(one, how.doubts)),
    p: test.p,
    needs: verdict === 'undecided' || verdict === 'suspect' ? needsOf(one, reason, gating, how) : null,
  };
  return { ...judged, sentence: evidenceSentence(judged) };
}

/** The decision after everything that can forbid it. */
function conclude(
  { each, evidence, decision, test }: Judged,
  byKey: ReadonlyMap<string, Judged>,
  { forbidden, doubts, alpha }: JudgedHow,
): { verdict: VerdictName; reason: Reason } {
  const undecided = (reason: Reason): { verdict: VerdictName; reason: Reason } => ({ verdict: 'undecided', reason });
  if (evidence === null || decision === null || test === null || forbidden) return undecided('preflight');
  const { verdict, reason } = decision;
  if (verdict === 'undecided' || verdict === 'unchanged') {
    return unusual(each, evidence.history) ?? { verdict, reason };
  }
  if (test.p.adjustment === 'benjamini_hochberg' && test.p.adjusted > alpha) return undecided('multiple_measures');
  const doubt = doubts.get(keyText(each.key));
  if (doubt !== undefined && (verdict === 'regressed' ? doubt.low <= 0 : doubt.high >= 0)) {
    return undecided(doubt.reason);
  }
  if (verdict === 'improved') {
    const withFailures = byKey.get(keyText({ ...each.key, population: 'all' }));
    if (withFailures !== undefined && withFailures.decision?.verdict !== 'improved') return undecided('failures');
  }
  return { verdict, reason };
}

/** What the newest run alone says: less than a verdict, whatever the runs before it show together. */
function unusual(
  { margin }: FigureCase,
  history: HistoryEvidence | null,
): { verdict: VerdictName; reason: Reason } | null {
  if (history === null) return null;
  const { up, down, estimate } = history.newest;
  if (up <= UNUSUAL && estimate[0] >= Math.log1p(margin))
    return { verdict: 'suspect', reason: 'unconfirmed_regression' };
  if (down <= UNUSUAL && estimate[1] <= -Math.log1p(margin))
    return { verdict: 'undecided', reason: 'unconfirmed_improvement' };
  return null;
}

/** If all runs of B were slower, what a trend leaves of the shift would move with the estimate. */
function detectableOf({ each, evidence, decision }: Judged, doubts: JudgedHow['doubts']): number | null {
  const doubt = doubts.get(keyText(each.key));
  const found = decision?.detectable ?? null;
  if (doubt === undefined || found === null || evidence === null) return found;
  return Math.max(found, (evidence.estimate[0] + evidence.estimate[1]) / 2 - doubt.low);
}

function needsOf({ each, evidence, decision }: Judged, reason: Reason, gating: number, how: JudgedHow): Needs | null {
  if (evidence === null || decision === null) return null;
  const { alpha, design } = how;
  switch (reason) {
    case 'preflight':
    case 'failures':
    case 'unbounded':
    case 'dependent_slices':
      return null;
    case 'time_order':
      return missingRuns({ design: 'pairs', a: 0, b: 0, gating, alpha });
    case 'buckets':
      return { design: 'buckets', effect: each.margin };
    default: {
      if (design === 'history') return toConfirm(evidence.history);
      const size: Size = { design, a: each.a.length, b: each.b.length, gating, alpha };
      return furtherRuns(size, evidence, decision, Math.log1p(each.margin));
    }
  }
}

/** The runs with which a change would be found if they are as the newest. Nothing is missing while nothing looks changed. */
function toConfirm(history: HistoryEvidence | null): Needs | null {
  const isUnusual = history !== null && Math.min(history.newest.up, history.newest.down) <= UNUSUAL;
  return isUnusual ? { design: 'confirm', further: MIN_LOOK - 1 } : null;
}

function effectOf(key: FigureKey, estimate: KnownInterval, interval: readonly [number, number]): EffectRatio {
  const [low, high] = lowerIsWorse(key) ? [interval[1], interval[0]] : interval;
  const ratio = (worse: number): number => effectRatio(key, worse);
  return { low: ratio(low), estimate: ratio((estimate[0] + estimate[1]) / 2), high: ratio(high) };
}

/**
 * The chance that a trend or a dependence of the runs is taken for a change of any gating measure. With it at most 2 of 100
 * comparisons in which nothing changed report one in every simulated world (`npm run bench -- judge`).
 */
const LEVEL = 0.008;
/** The same for windows of what servers recorded, with at most 1 of 100. */
const SERVER_LEVEL = 0.004;
/** Ranks alone decide nothing with fewer runs. */
const MIN_RUNS = 4;

/**
 * By `keyText`, what a change must reach before it is no trend and no dependence between runs, where the runs of two sets
 * follow each other in time. Nothing where they interleave, which makes both cancel, or where the times are not known.
 */
export function orderDoubts(
  a: readonly RunFigures[],
  b: readonly RunFigures[],
  rules: Rules,
): ReadonlyMap<string, Doubt> {
  const order = timeOrder(a, b);
  if (order === null || order.length < MIN_RUNS || isInterleaved(order, a.length, b.length)) return new Map();
  const usable = casesOf(a, b, rules).filter((each) => each.problem === null && seriesOf(each, order) !== null);
  const doubts = [true, false].flatMap((gates) =>
    doubtsOf(
      usable.filter(({ place }) => gates === place >= 0),
      order,
      { gates, level: rules.origin === 'server' ? SERVER_LEVEL : LEVEL },
    ),
  );
  return new Map(doubts);
}

/** That a trend between the sets could not be seen, because nothing says when some runs were made. */
export function unknownOrder(a: readonly RunFigures[], b: readonly RunFigures[]): readonly PreflightFinding[] {
  const undated = [...a, ...b].filter(({ start }) => start === null);
  if (undated.length === 0) return [];
  const sentence =
    `When ${things(undated.length, 'runs')} ${undated.length === 1 ? 'was' : 'were'} made is not known: ` +
    'a trend between the sets would look like a change.';
  return [{ check: 'time_order', outcome: 'unknown', run_ids: undated.map(({ run_id }) => run_id), sentence }];
}

/** The places of the runs of `a` and then `b`, in the order of their starts; null where one has none. */
function timeOrder(a: readonly RunFigures[], b: readonly RunFigures[]): readonly number[] | null {
  const times = [...a, ...b].map(({ start }) => (start === null ? NaN : Date.parse(start)));
  if (times.some(Number.isNaN)) return null;
  return times.map((_, place) => place).sort((x, y) => (times[x] ?? NaN) - (times[y] ?? NaN));
}

/** Whether the series changes between the sets at least as often as that of pairs, in whatever order each pair was made. */
function isInterleaved(order: readonly number[], ofA: number, ofB: number): boolean {
  const changes = order.filter((place, i) => i > 0 && place < ofA !== (order[i - 1] ?? NaN) < ofA).length;
  return changes >= Math.min(ofA, ofB) && changes > 1;
}

function doubtsOf(
  cases: readonly FigureCase[],
  order: readonly number[],
  how: Pick<DoubtHow, 'gates' | 'level'>,
): readonly (readonly [string, Doubt])[] {
  const [first] = cases;
  if (first === undefined) return [];
  const second = order.map((place) => place >= first.a.length);
  const shifts = orderedShifts(
    cases.map((each) => seriesOf(each, order) ?? []),
    second,
  );
  const tests = shifts.map(({ below, interval }) => ({ chance: Math.min(below(0), 1 - below(0)), interval }));
  return doubtsFrom(cases, tests, { ...how, reason: 'time_order' });
}

interface DoubtHow {
  readonly gates: boolean;
  readonly level: number;
  readonly reason: Doubt['reason'];
}

/** By `keyText`, the intervals of shifts at a level, which those that gate share by Holm's procedure. */
export function doubtsFrom(
  cases: readonly FigureCase[],
  shifts: readonly { readonly chance: number; readonly interval: (end: number) => Interval }[],
  { gates, level, reason }: DoubtHow,
): readonly (readonly [string, Doubt])[] {
  const levels = gates
    ? holmLevels(
        shifts.map(({ chance }) => chance),
        level,
      )
    : shifts.map(() => level);
  return cases.map(({ key }, i) => {
    const [low, high] = shifts[i]?.interval(levels[i] ?? level) ?? [-Infinity, Infinity];
    return [keyText(key), { reason, low, high }];
  });
}

/** The values in the order of time, with the middle of those that are known as intervals; null where one is infinite. */
function seriesOf({ a, b }: FigureCase, order: readonly number[]): readonly number[] | null {
  const values = [...a, ...b].map(([low, high]) => (low + high) / 2);
  return values.every(Number.isFinite) ? order.map((place) => values[place] ?? NaN) : null;
}
