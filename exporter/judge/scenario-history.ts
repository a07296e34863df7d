import type { HistoryChange } from '../../core/api/scenarios.ts';
import type { FigureKey, VerdictName } from '../../core/api/verdict.ts';
import { changePointsOf, type ChangePoint } from '../../core/stats/change-points.ts';
import { percentile } from '../../core/stats/percentiles.ts';
import { seededRandom } from '../../core/stats/seeded-random.ts';
import { unpairedShift, type KnownInterval } from '../../core/stats/shift.ts';
import { readBaseline, type Baseline } from './baseline.ts';
import { casesOf, gatingOnly, keyText } from './cases.ts';
import type { RunFigures, Figure } from './run-figures.ts';
import { effectRatio, worseUp } from './evidence.ts';
import { inOrder } from './history.ts';
import type { LoadFigures } from './load-figures.ts';
import { defaultRules, rulesFor, type Rules, type RuleChoices } from './rules.ts';
import { newestVerdicts, readVerdicts, type Verdicts } from './verdict-log.ts';

/** Significance level of a change: histories are long, and looked at again with each run. */
const SIGNIFICANCE = 0.001;
/** Runs of a level. */
const MIN_RUNS = 5;
/** The last runs that are looked at, and of a level those that its size is estimated from. */
const MAX_RUNS = 1000;
const MAX_A_LEVEL = 100;

/**
 * Where the levels of a scenario's figures changed by at least the margin: E-divisive on the logarithms, p at most 0.001.
 * Default: the figures that gate. Figures that some runs lack are looked at over the runs that have them.
 *
 * @param runs of one scenario and fingerprint, in any order; the last 1,000 are looked at
 */
export function changePoints(
  runs: readonly RunFigures[],
  { rules = defaultRules(runs), all = false }: { readonly rules?: Rules; readonly all?: boolean } = {},
): readonly HistoryChange[] {
  const newest = inOrder(runs).slice(-MAX_RUNS);
  const ordered = all ? newest : newest.map((run) => gatingOnly(run, rules));
  return casesOf(ordered, [], rules)
    .filter(({ place }) => all || place >= 0)
    .flatMap(({ key, margin }) => changesOf(key, Math.log1p(margin), pointsOf(key, ordered)));
}

/** A run's value of one figure, on the scale of the evidence. */
interface Point {
  readonly run_id: string;
  readonly known: KnownInterval;
}

function pointsOf(key: FigureKey, runs: readonly RunFigures[]): readonly Point[] {
  const id = keyText(key);
  return runs.flatMap(({ run_id, figures }) => {
    const value = figures.find((figure) => keyText(figure) === id)?.value ?? null;
    return value === null ? [] : [{ run_id, known: worseUp(key, value) }];
  });
}

function changesOf(key: FigureKey, margin: number, points: readonly Point[]): HistoryChange[] {
  const middles = points.map(({ known }) => percentile(Float64Array.from(known), 0.5));
  const options = { significance: SIGNIFICANCE, fewest: MIN_RUNS, random: seededRandom(keyText(key)) };
  return largeEnough(margin, points, changePointsOf(middles, options)).map(({ change, start, end, shift }) => ({
    ...key,
    run_id: points[change.index]?.run_id ?? '',
    previous_run_id: points[change.index - 1]?.run_id ?? '',
    ratio: effectRatio(key, shift),
    worse: shift > 0,
    p: change.p,
    runs: { before: change.index - start, after: end - change.index },
  }));
}

interface Step {
  readonly change: ChangePoint;
  /** Of the old level, and the end of the new one. */
  readonly start: number;
  readonly end: number;
  /** On the scale of the evidence. */
  readonly shift: number;
}

/** Leaves out the smallest change below the margin, which joins two levels, until none is below. */
function largeEnough(margin: number, points: readonly Point[], changes: readonly ChangePoint[]): readonly Step[] {
  const steps = changes.map((change, i): Step => {
    const start = changes[i - 1]?.index ?? 0;
    const end = changes[i + 1]?.index ?? points.length;
    const before = points.slice(Math.max(start, change.index - MAX_A_LEVEL), change.index);
    const after = points.slice(change.index, Math.min(end, change.index + MAX_A_LEVEL));
    const { estimate } = unpairedShift(
      before.map(({ known }) => known),
      after.map(({ known }) => known),
    );
    return { change, start, end, shift: (estimate[0] + estimate[1]) / 2 };
  });
  const [smallest] = [...steps].sort((x, y) => Math.abs(x.shift) - Math.abs(y.shift));
  if (smallest === undefined || Math.abs(smallest.shift) >= margin) return steps;
  return largeEnough(
    margin,
    points,
    changes.filter((change) => change !== smallest.change),
  );
}

/** Completed runs of a scenario that its history is made of: the newest. */
export const MAX_HISTORY_RUNS = 1000;

/** A run in the history of its scenario. */
export interface HistoryRun {
  readonly run: RunFigures;
  /** Of the newest check of the run; null when it was not checked. */
  readonly verdict: VerdictName | null;
  readonly accepted: boolean;
  readonly pinned: boolean;
}

/** The runs of a scenario in their order, with what was decided of them. */
export interface ScenarioHistory {
  readonly scenario: string;
  readonly rules: Rules;
  /** Oldest first. */
  readonly runs: readonly HistoryRun[];
  readonly changes: readonly HistoryChange[];
  /** Runs that are not in the history, with the reason. */
  readonly unreadable: ReadonlyMap<string, string>;
  readonly baseline: Baseline;
  readonly verdicts: Verdicts;
}

/**
 * @param runIds the completed runs of the scenario, oldest first; of more than `MAX_HISTORY_RUNS` the last
 * @throws what the file system says of the baseline or the verdicts
 */
export async function scenarioHistory(
  { load, runsDirectory }: { readonly load: LoadFigures; readonly runsDirectory: string },
  scenario: string,
  runIds: readonly string[],
  choices: RuleChoices,
): Promise<ScenarioHistory> {
  const { runs, unreadable } = await load(runIds.slice(-MAX_HISTORY_RUNS));
  const rules = rulesFor(choices, runs);
  const baseline = await readBaseline(runsDirectory, scenario);
  const verdicts = await readVerdicts(runsDirectory, scenario);
  const verdictOf = newestVerdicts(verdicts.entries, ({ verdict }) => verdict);
  const [accepted, pinned] = [new Set(baseline.accepted), new Set(baseline.pinned)];
  return {
    scenario,
    rules,
    runs: runs.map((run) => ({
      run,
      verdict: verdictOf.get(run.run_id) ?? null,
      accepted: accepted.has(run.run_id),
      pinned: pinned.has(run.run_id),
    })),
    changes: sameConfiguration(runs).flatMap((alike) => changePoints(alike, { rules })),
    unreadable,
    baseline,
    verdicts,
  };
}

/** The figures that gate, in the order of the rules; several of one measure when the runs define it differently. */
export function gatingFigures(runs: readonly RunFigures[], rules: Rules): readonly (FigureKey & { margin: number })[] {
  const gating = runs.map((run) => gatingOnly(run, rules));
  return casesOf(gating, [], rules).map(({ key, margin }) => ({ ...key, margin }));
}

/** The figure of a run, null when it has none. */
export function figureOf({ figures }: RunFigures, key: FigureKey): Figure | null {
  const wanted = keyText(key);
  return figures.find((each) => each.measure === key.measure && keyText(each) === wanted) ?? null;
}

/** Runs of different configurations are histories of their own. */
function sameConfiguration(runs: readonly RunFigures[]): readonly (readonly RunFigures[])[] {
  return [...Map.groupBy(runs, ({ fingerprint }) => fingerprint).values()];
}
