import { casesOf, gatingOnly, keyText } from './cases.ts';
import { changePoints } from './change-points.ts';
import type { HistoryChange } from '../../core/api/scenarios.ts';
import { readBaseline, type Baseline } from './baseline.ts';
import type { LoadFigures } from './load-figures.ts';
import { rulesFor, type RuleChoices } from './rule-choices.ts';
import type { Rules } from './rules.ts';
import type { Figure, RunFigures } from './run-figures.ts';
import type { FigureKey, VerdictName } from '../../core/api/verdict.ts';
import { newestVerdicts, readVerdicts, type Verdicts } from './verdict-log.ts';

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
