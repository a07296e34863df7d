import { orderNotes } from '../../core/text/run-order-notes.ts';
import type { IndexedRun } from '../store/index/rows.ts';
import { RunIndex } from '../store/index/run-index.ts';
import type { RunStore } from '../store/run-store.ts';
import { BASELINE_RUNS, baselineWindow } from './baseline-window.ts';
import { changeBaseline, readBaseline, type Baseline } from './baseline.ts';
import { inOrder, judgeAgainstHistory, type HistoryJudgment } from './history.ts';
import { readFigures, storedFigures, UnreadableRunError, type LoadFigures } from './load-figures.ts';
import { rulesFor, type RuleChoices } from './rule-choices.ts';
import type { RunFigures } from './run-figures.ts';
import { stateOf, type ScenarioState } from './scenario-state.ts';
import { appendVerdict, readVerdicts, verdictEntry, type VerdictEntry } from './verdict-log.ts';
import type { VerdictName } from './verdict.ts';

/** A check that cannot be made; the message is one line for people. */
export class CheckError extends Error {
  override readonly name = 'CheckError';
}

export interface CheckRequest {
  readonly scenario: string;
  /** The runs to judge, oldest first; at least one. */
  readonly runIds: readonly string[];
  /** Accepts the judged runs when they passed. */
  readonly acceptPassed: boolean;
  readonly rules: RuleChoices;
  readonly author: string | null;
}

export interface CheckedScenario {
  readonly scenario: string;
  readonly judgment: HistoryJudgment;
  readonly fingerprint: string;
  /** The judged runs, by start, with those of a pending suspicion. */
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

/** The verdicts with which runs may enter the baseline. */
export const PASSED: ReadonlySet<VerdictName> = new Set(['unchanged', 'improved']);

/**
 * Judges runs against the baseline of their scenario, with those of a pending suspicion, so that the next run of a pipeline
 * confirms the one before it; records the verdict, and accepts the runs if they passed and that was requested. Two checks at once are safe: both only append. Throws `CheckError`.
 */
export async function checkScenario(store: RunStore, request: CheckRequest): Promise<CheckedScenario> {
  const { scenario, author } = request;
  const load = storedFigures(store);
  const baseline = await readBaseline(store.directory, scenario);
  const stored = await RunIndex.use(store, (index) => index.runs());
  const asked = inOrder(await required(load, request.runIds));
  const newest = asked.at(-1);
  if (newest === undefined) throw new CheckError(`no run of scenario ${scenario} can be read`);
  const { fingerprint } = newest;
  const { entries } = await readVerdicts(store.directory, scenario);
  const pending = pendingSuspects(entries, baseline, fingerprint);
  const suspects = await load(pending.filter((id) => !request.runIds.includes(id)));
  const judged = inOrder([...suspects.runs, ...asked]);
  const runIds = judged.map(({ run_id }) => run_id);
  const used = baselineRuns(baseline, stored, fingerprint, runIds);
  const accepted = await load(used.window);
  const pinned = await load(baseline.pinned);
  const figures = [...accepted.runs, ...pinned.runs, ...judged];
  const judgment = judgeAgainstHistory(accepted.runs, judged, {
    anchor: pinned.runs,
    rules: rulesFor(request.rules, figures),
  });
  const entry = verdictEntry(judgment, { fingerprint, runIds, firstStart: judged[0]?.start ?? null, author });
  await appendVerdict(store, entry);
  const acceptedRunIds =
    request.acceptPassed && PASSED.has(judgment.verdict)
      ? runIds.filter((id) => !baseline.accepted.includes(id) && !baseline.dropped.includes(id))
      : [];
  if (acceptedRunIds.length > 0) {
    const change = { scenario, action: 'accept', run_ids: acceptedRunIds, author, reason: 'passed the check' } as const;
    await changeBaseline(store, change);
  }
  const state = stateOf([...entries, entry], baseline.entries);
  const unreadable = new Map([...used.unreadable, ...accepted.unreadable, ...pinned.unreadable]);
  const notes = [...notesOf(baseline, unreadable), ...orderNotes(figures)];
  return { scenario, judgment, fingerprint, runIds, acceptedRunIds, figures, stored, state, notes };
}

async function required(load: LoadFigures, runIds: readonly string[]): Promise<readonly RunFigures[]> {
  try {
    return await readFigures(load, runIds);
  } catch (error) {
    if (error instanceof UnreadableRunError) throw new CheckError(error.message);
    throw error;
  }
}

/**
 * The runs of a suspicion that nothing has confirmed or cleared, with those that were judged undecided since: they are
 * evidence as well, except where preflight failed. A suspicion of another configuration is another one.
 */
function pendingSuspects(
  entries: readonly VerdictEntry[],
  { accepted, dropped }: Baseline,
  fingerprint: string,
): readonly string[] {
  const own = entries.filter((entry) => entry.fingerprint === fingerprint);
  const since = own.slice(own.findLastIndex(({ verdict }) => verdict === 'unchanged' || verdict === 'improved') + 1);
  const first = since.findIndex(({ verdict }) => verdict === 'suspect' || verdict === 'regressed');
  if (first === -1) return [];
  const evidence = since.slice(first).filter(({ reason }) => reason !== 'preflight');
  const runs = new Set(evidence.flatMap(({ run_ids }) => run_ids));
  return [...runs].filter((id) => !accepted.includes(id) && !dropped.includes(id));
}

/** The accepted runs that count: the last of the configuration. Of those accepted last, the ones that are gone or damaged. */
function baselineRuns(
  { accepted }: Baseline,
  stored: readonly IndexedRun[],
  fingerprint: string,
  judged: readonly string[],
): { readonly window: readonly string[]; readonly unreadable: ReadonlyMap<string, string> } {
  const byId = new Map(stored.map((run) => [run.run_id, run]));
  const inBaseline = new Set(accepted.filter((id) => !judged.includes(id)));
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
