import type { ComparedMeasure, VerdictReport } from '../../core/api/comparison.ts';
import type { FigureKey, EffectRatio, Reason, PreflightFinding } from '../../core/api/verdict.ts';
import { capitalized, statisticTitle } from '../../core/measures/names.ts';
import { CAPACITY_MEASURES } from '../../core/measures/scalar-measures.ts';
import type { CapacityFile, CapacityProbe } from '../../core/run/capacity.ts';
import type { KnownInterval } from '../../core/stats/shift.ts';
import { changeText, percentText, things } from '../../core/text/quantities.ts';
import { ExpectedError } from '../errors/expected-error.ts';
import type { RunStore } from '../store/run-store.ts';
import { readCapacity } from '../store/scenarios/capacity-files.ts';
import { decide, type Decidable, type Decision } from './decide.ts';
import { detectableRatio, effectRatio, worseUp } from './evidence.ts';
import { readFigures, type LoadFigures } from './load-figures.ts';
import { preflight, type AcceptedDifference } from './preflight.ts';
import { marginOf, rulesFor, type Rules, type RuleChoices } from './rules.ts';
import type { RunFigures } from './run-figures.ts';
import { overallReason, overallSentence } from './sentences.ts';

type Capacity = Pick<CapacityFile, 'load' | 'holds' | 'fails' | 'end'>;

/**
 * The capacity that a search leaves possible, in the unit of its load: from the load that holds to the one that fails, which
 * is not part of it: requests in flight are whole numbers. 0 without a load that holds, Infinity without one that fails; null
 * if the search has no result or the server has no capacity in this sense.
 */
function capacityInterval({ load, holds, fails, end }: Capacity): KnownInterval | null {
  if (end === 'not_monotonic' || (holds === null && fails === null)) return null;
  const high = fails === null ? Infinity : load === 'concurrency' ? fails - 1 : fails;
  return [holds ?? 0, high];
}

/** From the smallest to the largest capacity that any of several searches leaves possible; null without one. */
function spanOf(intervals: readonly KnownInterval[]): KnownInterval | null {
  if (intervals.length === 0) return null;
  return [Math.min(...intervals.map(([low]) => low)), Math.max(...intervals.map(([, high]) => high))];
}

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

/** What of a run says whether it is a probe of a search. */
export interface GroupedRun {
  readonly run_id: string;
  readonly scenario: string | null;
  readonly group_id: string | null;
}

/** The probes at the two bounds, on which the response of a search rests. */
function boundProbesOf({ holds, fails, probes }: CapacityFile): readonly CapacityProbe[] {
  return probes.filter(({ load }) => load === holds || load === fails);
}

const isIn =
  (selected: ReadonlySet<string>) =>
  ({ run_id }: CapacityProbe): boolean =>
    selected.has(run_id);

/**
 * The searches (`run --find`) whose probes the runs are, in the order of the runs; null if none is. A single probe is
 * compared as a run: a search counts if all probes at its bounds are there. Throws an `ExpectedError`: 'refused' if only
 * some are, 'damaged' if the file of a search cannot be read.
 */
export async function searchesOf(
  store: RunStore,
  runs: readonly GroupedRun[],
  side: 'A' | 'B',
): Promise<readonly CapacityFile[] | null> {
  const groups = new Map<string, Promise<CapacityFile | null>>();
  const found = await Promise.all(
    runs.map(async ({ scenario, group_id: group }) => {
      if (scenario === null || group === null) return null;
      const key = JSON.stringify([scenario, group]);
      const read = groups.get(key) ?? readCapacity(store.directory, scenario, group);
      groups.set(key, read);
      return read;
    }),
  );
  const selected = new Set(runs.map(({ run_id }) => run_id));
  const whole = found.map((file) => (file !== null && boundProbesOf(file).every(isIn(selected)) ? file : null));
  const searches = [...new Set(whole.filter((file) => file !== null))];
  if (searches.length === 0) return null;
  const others = whole.filter((file) => file === null).length;
  if (others === 0) return searches;
  throw new ExpectedError(
    'refused',
    `${side} has probes of ${things(searches.length, 'searches')} (--find) and ${things(others, 'other runs')}: select the ones or the others`,
  );
}

/** One side of a comparison of capacities. */
export interface ComparedSearches {
  readonly searches: readonly CapacityFile[];
  /** The probes that were selected. */
  readonly runIds: readonly string[];
}

/**
 * Compares the capacities that two sets of searches found. The probes at the bounds, on which the capacities rest, have to be
 * comparable as runs are, but for their loads. Throws an `ExpectedError` ('damaged').
 */
export async function compareSearches(
  load: LoadFigures,
  {
    a,
    b,
    rules,
    accepted,
  }: {
    readonly a: ComparedSearches;
    readonly b: ComparedSearches;
    readonly rules: RuleChoices;
    readonly accepted: AcceptedDifference | undefined;
  },
): Promise<VerdictReport> {
  const [probesA, probesB] = [await boundProbes(load, a.searches), await boundProbes(load, b.searches)];
  const findings = [
    ...sameQuestion([...a.searches, ...b.searches]),
    ...(probesA.length > 0 && probesB.length > 0 ? preflight(probesA, probesB, accepted) : []),
  ];
  const isForbidden = findings.some(({ outcome }) => outcome === 'failed');
  const chosen = rulesFor(rules, [...probesA, ...probesB]);
  const measure = compareCapacities(a.searches, b.searches, chosen, isForbidden);
  const { verdict, needs } = measure;
  return {
    design: 'sets',
    scenario: b.searches[0]?.scenario ?? '',
    verdict,
    reason: overallReason({ verdict, preflight: findings, measures: [measure] }),
    sentence: isForbidden ? overallSentence(verdict, [measure], findings) : measure.sentence,
    runs: { a: a.runIds, b: b.runIds },
    left_out: null,
    preflight: findings,
    measures: [measure],
    needs,
    scenarios: { a: scenariosOf(a.searches), b: scenariosOf(b.searches) },
    effect_meaning: measure.effect === null ? null : 'the ratio of the middles of the capacities of B and of A',
    explanation: null,
    next_command: null,
  };
}

const scenariosOf = (searches: readonly CapacityFile[]): readonly string[] => [
  ...new Set(searches.map(({ scenario }) => scenario)),
];

/** Searches for other objectives, or of another load, have other capacities. */
function sameQuestion(searches: readonly CapacityFile[]): PreflightFinding[] {
  const questions = searches.map(({ load, objectives }) => {
    const texts = objectives.map(({ text }) => text).sort();
    return `--find ${load.replace('_', '-')} with ${texts.join(' and ')}`;
  });
  const different = [...new Set(questions)];
  if (different.length === 1) return [];
  const sentence = `The searches differ: ${different.slice(0, 3).join('; ')}.`;
  return [{ check: 'fingerprint', outcome: 'failed', run_ids: [], sentence }];
}

/** The figures of the probes at the bounds, whose configurations are equal if they differ in what a search varies only. */
async function boundProbes(load: LoadFigures, searches: readonly CapacityFile[]): Promise<readonly RunFigures[]> {
  const atBounds = searches.flatMap(boundProbesOf);
  const holding = new Set(atBounds.flatMap(({ verdict, run_id }) => (verdict === 'holds' ? [run_id] : [])));
  const figures = await readFigures(
    load,
    atBounds.map(({ run_id }) => run_id),
  );
  // A client that is late can make a load fail, but not hold.
  return figures.map((run) => ({ ...atAnyLoad(run), ...(holding.has(run.run_id) ? { client: 'ok' as const } : {}) }));
}

/** What a search sets itself. */
const VARIED: ReadonlySet<string> = new Set(['load', 'stop', 'warmup']);

function atAnyLoad(run: RunFigures): RunFigures {
  const entries = Object.entries(run.configuration ?? {}).filter(([name]) => !VARIED.has(name));
  const configuration = Object.fromEntries(entries);
  return { ...run, configuration, fingerprint: run.fingerprint && JSON.stringify(configuration) };
}
