import { ExpectedError } from '../errors/expected-error.ts';
import { MAX_LOOK } from '../../core/stats/robust-shift.ts';
import { orderNotes } from '../../core/text/run-order-notes.ts';
import type { IndexedRun } from '../store/index/rows.ts';
import { RunIndex } from '../store/index/run-index.ts';
import type { RunStore } from '../store/run-store.ts';
import { changeBaseline, changeDetect, readBaseline, type Baseline } from './baseline.ts';
import { keyText } from './cases.ts';
import type { RunFigures } from './run-figures.ts';
import {
  decisiveOf,
  inOrder,
  judgeAgainstHistory,
  regressionEnd,
  type HistoryJudgment,
  type RegressionEnd,
} from './history.ts';
import { readFigures, storedFigures } from './load-figures.ts';
import { outlierNotes, BASELINE_RUNS, baselineWindow } from './baseline-sight.ts';
import { rulesFor, type RuleChoices, type Rules } from './rules.ts';
import { regressedFigures, stateOf, type ScenarioState } from './scenario-state.ts';
import type { OpenRegression } from '../../core/api/scenarios.ts';
import type { VerdictEntry, VerdictName } from '../../core/api/verdict.ts';
import { appendVerdict, readVerdicts, verdictEntry } from './verdict-log.ts';

export interface CheckRequest {
  readonly scenario: string;
  /** The runs to judge, oldest first; at least one. Those before them that no baseline has are judged with them. */
  readonly runIds: readonly string[];
  /** Accepts runs that passed, see `acceptable`. */
  readonly acceptPassed: boolean;
  readonly rules: RuleChoices;
  readonly author: string | null;
  /** The change that checks of the scenario have to see from now on, as a ratio above 0; null: as it was set before. */
  readonly detect?: number | null;
}

export interface CheckedScenario {
  readonly scenario: string;
  readonly judgment: HistoryJudgment;
  readonly fingerprint: string;
  /** The runs that led to the verdict, by start. */
  readonly runIds: readonly string[];
  readonly acceptedRunIds: readonly string[];
  /** Of every run that was judged or judged against. */
  readonly figures: readonly RunFigures[];
  /** The finished runs of the store, newest first. */
  readonly stored: readonly IndexedRun[];
  /** Where the scenario stands with this check. */
  readonly state: ScenarioState | null;
  /** What a reader has to know of how it was judged, one line each. */
  readonly notes: readonly string[];
}

/** The verdicts with which runs enter the baseline at once. */
export const PASSED: ReadonlySet<VerdictName> = new Set(['unchanged', 'improved']);

/**
 * Judges runs with all before them that no baseline has, records the verdict and whether it ends an open regression, and accepts
 * runs that passed if that was requested. Two checks at once are safe: both only append. Throws an `ExpectedError`.
 */
export async function checkScenario(store: RunStore, request: CheckRequest): Promise<CheckedScenario> {
  const { scenario, author, detect = null } = request;
  const load = storedFigures(store);
  if (detect !== null) await changeDetect(store, scenario, author, detect);
  const baseline = await readBaseline(store.directory, scenario);
  const stored = await RunIndex.use(store, (index) => index.runs());
  const { entries } = await readVerdicts(store.directory, scenario);
  const asked = inOrder(await readFigures(load, request.runIds));
  const newest = asked.at(-1);
  if (newest === undefined) throw new ExpectedError('failed', `no run of scenario ${scenario} can be read`);
  const { fingerprint } = newest;
  const own = entries.filter((entry) => entry.fingerprint === fingerprint);
  const open = stateOf(own, baseline.entries)?.open ?? null;
  const before = await load(pendingBefore(newest, { baseline, stored, entries: own, open }));
  const isAsked = new Set(request.runIds);
  const pending = inOrder([...before.runs.filter(({ run_id }) => !isAsked.has(run_id)), ...asked]);

  const used = baselineRuns(baseline, stored, fingerprint, [...isAsked]);
  const accepted = await load(used.window);
  const pinned = await load(baseline.pinned);
  const figures = [...accepted.runs, ...pinned.runs, ...pending];
  const rules = rulesFor(request.rules, figures);
  const { judgment, runIds, entry, passed } = judgeNight({
    ...{ accepted: accepted.runs, anchor: pinned.runs, pending, rules, author, entries: own, open, baseline },
    before: open === null ? [] : (await load(open.baseline_run_ids)).runs,
  });
  await appendVerdict(store, entry);
  const state = stateOf([...entries, entry], baseline.entries);

  const known = new Set([...baseline.accepted, ...baseline.dropped]);
  const acceptedRunIds = request.acceptPassed ? passed().filter((id) => !known.has(id)) : [];
  if (acceptedRunIds.length > 0) {
    const level = judgment.verdict === 'improved' ? ({ level: 'new' } as const) : {};
    const reason = 'passed the check';
    await changeBaseline(store, { scenario, action: 'accept', run_ids: acceptedRunIds, author, reason, ...level });
  }
  const unreadable = new Map([...used.unreadable, ...accepted.unreadable, ...pinned.unreadable]);
  const skipped = [...before.unreadable].map(([id, reason]) => `run ${id} is not judged: ${reason}`);
  const notes = [
    ...notesOf(baseline, unreadable),
    ...skipped,
    ...outlierNotes(accepted.runs, rules, baseline.levels),
    ...orderNotes(figures),
  ];
  return { scenario, judgment, fingerprint, runIds, acceptedRunIds, figures, stored, state, notes };
}

export interface Night {
  readonly accepted: readonly RunFigures[];
  readonly anchor: readonly RunFigures[];
  /** The runs that no baseline has, oldest first, to the one that is judged; at least one. */
  readonly pending: readonly RunFigures[];
  /** The runs that an open regression was found against. */
  readonly before: readonly RunFigures[];
  /** Of the configuration, oldest first. */
  readonly entries: readonly VerdictEntry[];
  readonly open: OpenRegression | null;
  readonly baseline: Pick<Baseline, 'levels' | 'detect' | 'entries'>;
  readonly rules: Rules;
  readonly author: string | null;
}

interface JudgedNight {
  readonly judgment: HistoryJudgment;
  /** The runs that led to the verdict. */
  readonly runIds: readonly string[];
  readonly entry: VerdictEntry;
  /** Finds the runs that may enter the baseline; each is judged alone for it. */
  readonly passed: () => readonly string[];
}

/** What a check decides, without files: the verdict, and whether it ends an open regression. */
export function judgeNight(night: Night): JudgedNight {
  const { accepted, anchor, pending, open, baseline, rules, author, entries } = night;
  const { levels, detect } = baseline;
  const ended = open === null ? null : recoveryOf(open, night);
  const judged = ended?.since ?? pending;
  const judgment = judgeAgainstHistory(accepted, judged, { anchor, rules, levels });
  const runIds = decisiveOf(judgment).runs.b;
  const recovery = ended ?? (judgment.verdict === 'regressed' ? recoveryAfterFinding(judgment, night) : null);
  const entry = verdictEntry(judgment, {
    fingerprint: pending.at(-1)?.fingerprint ?? '',
    ...{ runIds, firstStart: judged.find(({ run_id }) => run_id === runIds[0])?.start ?? null, author, detect },
    recovery: recovery && { recovered: recovery.since !== null, further: recovery.further },
  });
  const isOpen = stateOf([...entries, entry], baseline.entries)?.open ?? null;
  const isUsual = (id: string): boolean => {
    const alone = judged.filter(({ run_id }) => run_id === id);
    return (
      judgment.verdict === 'improved' ||
      !UNUSUAL_ALONE.has(judgeAgainstHistory(accepted, alone, { rules, levels }).reason)
    );
  };
  return {
    judgment,
    runIds,
    entry,
    passed: () => (isOpen === null ? acceptable(judgment, judged).filter(isUsual) : []),
  };
}

/** A run that is unlike the history does not become part of it because those around it are like it. */
const UNUSUAL_ALONE: ReadonlySet<HistoryJudgment['reason']> = new Set([
  'unconfirmed_regression',
  'unconfirmed_improvement',
]);

function recoveryOf(
  open: OpenRegression,
  { entries, pending, before, rules, baseline: { levels } }: Night,
): RegressionEnd {
  const last = entries.find(({ at }) => at === open.found_at)?.run_ids.at(-1);
  const begun = pending.findIndex(({ run_id }) => run_id === open.since_run_id);
  const series = pending.slice(Math.max(0, begun));
  const found = series.findIndex(({ run_id }) => run_id === last) + 1;
  // Without the runs that showed it it is not known how large it was.
  if (found === 0 || before.length === 0) return { since: null, further: null };
  return regressionEnd(inOrder(before), series, found, { rules, levels, regressed: regressedFigures(entries, open) });
}

/** How many runs would end a regression that was found just now. */
function recoveryAfterFinding(
  judgment: HistoryJudgment,
  { accepted, anchor, pending, rules, baseline }: Night,
): RegressionEnd {
  const { runs, measures } = decisiveOf(judgment);
  const among = (all: readonly RunFigures[], ids: readonly string[]): readonly RunFigures[] =>
    inOrder(all.filter(({ run_id }) => ids.includes(run_id)));
  const regressed = new Set(measures.filter((one) => one.gating && one.verdict === 'regressed').map(keyText));
  const against = among([...accepted, ...anchor.filter((run) => !accepted.includes(run))], runs.a);
  const how = { regressed, rules, levels: baseline.levels };
  return regressionEnd(against, among(pending, runs.b), runs.b.length, how);
}

/** Runs of an improvement with which the level that they show becomes the normal one. */
const MIN_OF_A_LEVEL = 5;

/**
 * The runs that enter the baseline. Unchanged by fewer than eight runs: all. Improved: all, as a new level, once there are five.
 * Else, where no regression was found: those that eight further runs have followed, so that whatever lasts is looked at eight
 * times before it can become normal. A level that moves more slowly than that shows against the pinned runs.
 */
function acceptable({ verdict, reason, window }: HistoryJudgment, judged: readonly RunFigures[]): readonly string[] {
  const ids = judged.map(({ run_id }) => run_id);
  const together = window.runs.b;
  const followed = ids.slice(0, -MAX_LOOK);
  switch (verdict) {
    case 'unchanged':
      return together.length < MAX_LOOK ? ids : followed;
    case 'improved':
      return together.length < MIN_OF_A_LEVEL ? [] : together;
    case 'undecided':
      return NOTHING_FOUND.has(reason) ? followed : [];
    default:
      return [];
  }
}

const NOTHING_FOUND: ReadonlySet<HistoryJudgment['reason']> = new Set(['wide_interval', 'multiple_measures']);

interface Known {
  readonly baseline: Baseline;
  /** Newest first. */
  readonly stored: readonly IndexedRun[];
  /** Of the fingerprint, oldest first. */
  readonly entries: readonly VerdictEntry[];
  readonly open: OpenRegression | null;
}

/** Runs without a baseline that are read at once: of a scenario without accepted runs, the last. */
const MAX_PENDING = 60;

/**
 * The runs before this one that are evidence with it: of its configuration, since the last accepted one and since a regression
 * that is over, and all of one that is open.
 */
function pendingBefore(newest: RunFigures, { baseline, stored, entries, open }: Known): readonly string[] {
  const isAlike = ({ scenario, fingerprint, status }: IndexedRun): boolean =>
    status === 'completed' && scenario === newest.scenario && fingerprint === newest.fingerprint;
  const alike = stored
    .filter(isAlike)
    .map(({ run_id }) => run_id)
    .toReversed();
  const ids = alike.slice(0, Math.max(0, alike.indexOf(newest.run_id)));
  const accepted = new Set(baseline.accepted);
  const taken = new Set([...baseline.accepted, ...baseline.dropped]);
  const over = entries.findLast(({ recovered }) => recovered)?.run_ids[0];
  const from = Math.max(
    ids.findLastIndex((id) => accepted.has(id)) + 1,
    ids.findIndex((id) => id === over),
  );
  const since = open === null ? from : Math.min(from, Math.max(0, ids.indexOf(open.since_run_id)));
  return ids
    .slice(since)
    .filter((id) => !taken.has(id))
    .slice(-MAX_PENDING);
}

/** The accepted runs that count: the last of the configuration. Of those accepted last, the ones that are gone or damaged. */
function baselineRuns(
  { accepted }: Baseline,
  stored: readonly IndexedRun[],
  fingerprint: string,
  judged: readonly string[],
): { readonly window: readonly string[]; readonly unreadable: ReadonlyMap<string, string> } {
  const byId = new Map(stored.map((run) => [run.run_id, run]));
  const isJudged = new Set(judged);
  const inBaseline = new Set(accepted.filter((id) => !isJudged.has(id)));
  const gone = accepted.slice(-BASELINE_RUNS).flatMap((id) => {
    const run = byId.get(id);
    if (run === undefined) return [[id, 'it does not exist'] as const];
    return run.damage === null ? [] : [[id, run.damage] as const];
  });
  return { window: baselineWindow(stored, inBaseline, fingerprint), unreadable: new Map(gone) };
}

function notesOf({ damagedLines }: Baseline, unreadable: ReadonlyMap<string, string>): string[] {
  const missing = [...unreadable].map(([id, reason]) => `baseline run ${id} is not used: ${reason}`);
  if (damagedLines.length === 0) return missing;
  return [...missing, `baseline.jsonl: lines ${damagedLines.join(', ')} cannot be read and are ignored`];
}
