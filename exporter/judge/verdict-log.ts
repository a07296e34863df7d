import { VERDICTS, type VerdictEntry, type VerdictSummary, type MeasureVerdict } from '../../core/api/verdict.ts';
import type { RunStore } from '../store/run-store.ts';
import { readEntries } from '../store/scenarios/append-log.ts';
import { scenarioPaths } from '../store/scenarios/scenario-folders.ts';
import { decisiveOf, type HistoryJudgment } from './history.ts';

/** Where the logs of scenarios are. */
export type LogStore = Pick<RunStore, 'directory' | 'appendToLog'>;

/** The entry for a judgment. */
export function verdictEntry(
  judged: HistoryJudgment,
  {
    fingerprint,
    runIds,
    firstStart,
    author,
    detect,
    recovery,
  }: {
    readonly fingerprint: string;
    readonly runIds: readonly string[];
    readonly firstStart: string | null;
    readonly author: string | null;
    /** The change that checks have to see; null: none is set. */
    readonly detect: number | null;
    /** Null without an open regression. */
    readonly recovery: { readonly recovered: boolean; readonly further: number | null } | null;
  },
): VerdictEntry {
  const { window, anchor } = judged;
  const decisive = decisiveOf(judged);
  const gating = decisive.measures.filter((one) => one.gating);
  const detectable = detectableIn(gating);
  return {
    schema_version: 1,
    scenario: window.scenario,
    at: new Date().toISOString(),
    verdict: judged.verdict,
    reason: judged.reason,
    sentence: judged.sentence,
    needs: judged.needs,
    fingerprint,
    run_ids: runIds,
    baseline_run_ids: decisive.runs.a,
    left_out: decisive.left_out,
    first_start: firstStart,
    recovered: recovery?.recovered ?? false,
    needs_to_recover: recovery?.further ?? null,
    detectable,
    blind: judged.verdict === 'undecided' && (detectable === null || (detect !== null && detectable > detect)),
    anchor_verdict: anchor?.verdict ?? null,
    measures: gating,
    author,
  };
}

/** Null when one of them could not have been found changed. */
export function detectableIn(gating: readonly MeasureVerdict[]): number | null {
  const each = gating.map(({ detectable, reason }) => (reason === 'preflight' ? null : detectable));
  return each.length === 0 || each.includes(null) ? null : Math.max(...each.map((one) => one ?? Infinity));
}

export async function appendVerdict(store: LogStore, entry: VerdictEntry): Promise<void> {
  await store.appendToLog(scenarioPaths(store.directory, entry.scenario).verdicts, entry);
}

export interface Verdicts {
  /** Oldest first. */
  readonly entries: readonly VerdictEntry[];
  /** Lines of the file that cannot be read. */
  readonly damagedLines: readonly number[];
}

/** Reads the verdicts of a scenario; empty when there are none. Throws when the file cannot be read. */
export async function readVerdicts(runsDirectory: string, scenario: string): Promise<Verdicts> {
  return readVerdictFile(scenarioPaths(runsDirectory, scenario).verdicts);
}

export async function readVerdictFile(path: string): Promise<Verdicts> {
  const { entries, damagedLines } = await readEntries(path);
  return { entries: (entries as readonly object[]).filter(isVerdictEntry), damagedLines };
}

/** A verdict in short. */
export function verdictSummary(entry: VerdictEntry): VerdictSummary {
  const { verdict, reason, sentence, at, run_ids, baseline_run_ids, left_out } = entry;
  return { verdict, reason, sentence, at, run_ids, baseline_run_ids, left_out };
}

/** What `read` takes of the newest verdict on each judged run, by its id; `entries` are in the order of the file. */
export function newestVerdicts<T>(
  entries: readonly VerdictEntry[],
  read: (entry: VerdictEntry) => T,
): ReadonlyMap<string, T> {
  return new Map(
    entries.flatMap((entry) => {
      const found = read(entry);
      return entry.run_ids.map((id) => [id, found] as const);
    }),
  );
}

function isVerdictEntry(entry: object): entry is VerdictEntry {
  const { schema_version, verdict, run_ids, measures } = entry as Partial<Record<keyof VerdictEntry, unknown>>;
  return (
    schema_version === 1 &&
    VERDICTS.some((known) => known === verdict) &&
    Array.isArray(run_ids) &&
    Array.isArray(measures)
  );
}
