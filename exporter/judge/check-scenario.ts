import type { RunStore } from '../store/run-store.ts';
import { changeBaseline, readBaseline, type Baseline } from './baseline.ts';
import { inOrder, judgeAgainstHistory, type HistoryJudgment } from './history.ts';
import { storedFigures } from './load-figures.ts';
import type { Rules } from './rules.ts';
import { appendVerdict, readVerdicts, verdictEntry } from './verdict-log.ts';
import type { VerdictName } from './verdict.ts';

/** A check that cannot be made; the message is one line for people. */
export class CheckError extends Error {
  override readonly name = 'CheckError';
}

export interface CheckRequest {
  readonly scenario: string;
  /** The runs to judge, oldest first; at least one. */
  readonly runIds: readonly string[];
  /** Adds the runs of a pending suspicion, so that the next run of a pipeline confirms the one before it. */
  readonly withPending: boolean;
  /** Accepts the judged runs when they passed. */
  readonly acceptPassed: boolean;
  /** Null: the defaults of the judge. */
  readonly rules: Rules | null;
  readonly author: string | null;
}

export interface CheckedScenario {
  readonly scenario: string;
  readonly judgment: HistoryJudgment;
  readonly fingerprint: string;
  /** The judged runs, by start, with those of a pending suspicion. */
  readonly runIds: readonly string[];
  readonly acceptedRunIds: readonly string[];
  /** What a reader has to know of how it was judged, one line each. */
  readonly notes: readonly string[];
}

/** The verdicts with which runs may enter the baseline. */
export const PASSED: ReadonlySet<VerdictName> = new Set(['unchanged', 'improved']);

/**
 * Judges runs against the baseline of their scenario, records the verdict, and accepts the runs if they passed and that was
 * requested. Two checks at once are safe: both only append. Throws `CheckError`.
 */
export async function checkScenario(store: RunStore, request: CheckRequest): Promise<CheckedScenario> {
  const { scenario, author } = request;
  const baseline = await readBaseline(store.directory, scenario);
  const pending = request.withPending ? await pendingSuspects(store.directory, scenario) : [];
  const fresh = await storedFigures(store)([...new Set([...pending, ...request.runIds])]);
  const asked = fresh.runs.filter(({ run_id }) => request.runIds.includes(run_id));
  refuseUnreadable(request.runIds, fresh.unreadable);
  const [newest] = asked.slice(-1);
  if (newest === undefined) throw new CheckError(`no run of scenario ${scenario} can be read`);
  // A suspicion about another configuration is not confirmed by this one.
  const judged = fresh.runs.filter(
    (run) => request.runIds.includes(run.run_id) || run.fingerprint === newest.fingerprint,
  );
  const accepted = await storedFigures(store)(baseline.accepted);
  const pinned = await storedFigures(store)(baseline.pinned);
  const judgment = judgeAgainstHistory(accepted.runs, judged, {
    anchor: pinned.runs,
    ...(request.rules === null ? {} : { rules: request.rules }),
  });
  const runIds = inOrder(judged).map(({ run_id }) => run_id);
  const entry = verdictEntry(judgment, { fingerprint: newest.fingerprint, runIds, author });
  await appendVerdict(store.directory, entry);
  const acceptedRunIds =
    request.acceptPassed && PASSED.has(judgment.verdict)
      ? runIds.filter((id) => !baseline.accepted.includes(id) && !baseline.dropped.includes(id))
      : [];
  if (acceptedRunIds.length > 0) {
    const change = { scenario, action: 'accept', run_ids: acceptedRunIds, author, reason: 'passed the check' } as const;
    await changeBaseline(store.directory, change);
  }
  const notes = notesOf(baseline, new Map([...accepted.unreadable, ...pinned.unreadable]));
  return { scenario, judgment, fingerprint: newest.fingerprint, runIds, acceptedRunIds, notes };
}

/** The runs of the newest verdict while it is a suspicion that nothing has confirmed or cleared. */
async function pendingSuspects(runsDirectory: string, scenario: string): Promise<readonly string[]> {
  const { entries } = await readVerdicts(runsDirectory, scenario);
  const newest = entries.at(-1);
  return newest?.verdict === 'suspect' ? newest.run_ids : [];
}

function refuseUnreadable(runIds: readonly string[], unreadable: ReadonlyMap<string, string>): void {
  for (const id of runIds) {
    const reason = unreadable.get(id);
    if (reason !== undefined) throw new CheckError(`${id} cannot be read: ${reason}`);
  }
}

function notesOf({ damagedLines }: Baseline, unreadable: ReadonlyMap<string, string>): string[] {
  const missing = [...unreadable].map(([id, reason]) => `baseline run ${id} is not used: ${reason}`);
  if (damagedLines.length === 0) return missing;
  return [...missing, `baseline.jsonl: lines ${damagedLines.join(', ')} cannot be read and are ignored`];
}
