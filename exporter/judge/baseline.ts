import { type BaselineAction, LOGGED_ACTIONS, type BaselineEntry } from '../../core/api/scenarios.ts';
import { readEntries } from '../store/scenarios/append-log.ts';
import { scenarioPaths } from '../store/scenarios/scenario-folders.ts';
import type { LogStore } from './verdict-log.ts';
import { MIN_REFERENCE } from '../../core/stats/robust-shift.ts';
import { RunIndex } from '../store/index/run-index.ts';
import type { RunStore } from '../store/run-store.ts';
import { baselineWindow } from './baseline-sight.ts';

/** What is normal for a scenario: the sum of its entries. */
export interface Baseline {
  readonly scenario: string;
  /** Accepted runs, in the order in which they were accepted. */
  readonly accepted: readonly string[];
  /** The anchor against slow drift. */
  readonly pinned: readonly string[];
  /** Runs that were removed and must not come back unless they are accepted again by hand. */
  readonly dropped: readonly string[];
  /** Of accepted runs, how many times another level was accepted before or with them; runs of the first level are not in it. */
  readonly levels: ReadonlyMap<string, number>;
  /** The change that checks have to see, as a ratio above 0; null: none is set. */
  readonly detect: number | null;
  readonly entries: readonly BaselineEntry[];
  /** Lines of the file that cannot be read. */
  readonly damagedLines: readonly number[];
}

/**
 * The state after the entries, in their order: `accept` adds runs, `drop` removes them (also from the pinned ones), `pin`
 * replaces the pinned runs, `unpin` removes some of them.
 */
export function foldBaseline(
  entries: readonly BaselineEntry[],
): Pick<Baseline, 'accepted' | 'pinned' | 'dropped' | 'levels' | 'detect'> {
  const accepted = new Set<string>();
  let pinned = new Set<string>();
  const dropped = new Set<string>();
  const levels = new Map<string, number>();
  let level = 0;
  let wanted: number | null = null;
  for (const { action, run_ids, level: begins, detect } of entries) {
    switch (action) {
      case 'accept':
        if (begins === 'new') level++;
        for (const id of run_ids) {
          accepted.add(id);
          if (level > 0) levels.set(id, level);
          dropped.delete(id);
        }
        break;
      case 'drop':
        for (const id of run_ids) {
          accepted.delete(id);
          pinned.delete(id);
          dropped.add(id);
        }
        break;
      case 'pin':
        pinned = new Set(run_ids);
        break;
      case 'unpin':
        for (const id of run_ids) pinned.delete(id);
        break;
      case 'acknowledge':
        break;
      case 'detect':
        wanted = detect ?? null;
        break;
    }
  }
  return { accepted: [...accepted], pinned: [...pinned], dropped: [...dropped], levels, detect: wanted };
}

/** Reads the baseline of a scenario; empty when there is none. Throws when the file cannot be read. */
export async function readBaseline(runsDirectory: string, scenario: string): Promise<Baseline> {
  const { entries, damagedLines } = await readEntries(scenarioPaths(runsDirectory, scenario).baseline);
  return { scenario, damagedLines, ...foldEntries(entries) };
}

/** The state after the lines of a file; lines that are no entries are ignored. */
export function foldEntries(lines: readonly object[]): Omit<Baseline, 'scenario' | 'damagedLines'> {
  const entries = lines.filter(isBaselineEntry);
  return { entries, ...foldBaseline(entries) };
}

/** Appends to the baseline and waits until it is stored. */
export async function changeBaseline(
  store: LogStore,
  change: Omit<BaselineEntry, 'schema_version' | 'at'>,
): Promise<void> {
  const entry: BaselineEntry = { schema_version: 1, at: new Date().toISOString(), ...change };
  await store.appendToLog(scenarioPaths(store.directory, change.scenario).baseline, entry);
}

/** Sets the change that checks of a scenario have to see. */
export async function changeDetect(
  store: LogStore,
  scenario: string,
  author: string | null,
  detect: number,
): Promise<void> {
  if ((await readBaseline(store.directory, scenario)).detect === detect) return;
  await changeBaseline(store, { scenario, action: 'detect', run_ids: [], author, reason: null, detect });
}

/** A run that a change names. */
export interface ChangedRun {
  readonly run_id: string;
  readonly scenario: string | null;
  readonly status: string | null;
}

/** Why a change of a baseline is refused, in one line for people; null when it is not. */
export function refusedChange(scenario: string, action: BaselineAction, runs: readonly ChangedRun[]): string | null {
  const other = runs.find((run) => run.scenario !== scenario);
  if (other !== undefined) return `${other.run_id} is of scenario ${other.scenario ?? 'unknown'}, not of ${scenario}`;
  const unfit = action === 'accept' ? runs.find(({ status }) => status !== 'completed') : undefined;
  if (unfit === undefined) return null;
  return `${unfit.run_id} is ${unfit.status ?? 'damaged'}: only completed runs can be accepted`;
}

function isBaselineEntry(entry: object): entry is BaselineEntry {
  const { schema_version, action, run_ids } = entry as Partial<Record<keyof BaselineEntry, unknown>>;
  return (
    schema_version === 1 &&
    LOGGED_ACTIONS.some((known) => known === action) &&
    Array.isArray(run_ids) &&
    run_ids.every((id) => typeof id === 'string')
  );
}

interface FirstRuns {
  readonly scenario: string;
  /** The run that is to be judged: only runs of its configuration are accepted. */
  readonly newest: string;
  /** The runs from before it. */
  readonly before: readonly string[];
  readonly author: string | null;
}

/** Accepts runs from before the first judged one until the baseline of its configuration suffices; returns their ids. */
export async function acceptFirst(
  store: RunStore,
  { scenario, newest, before, author }: FirstRuns,
): Promise<readonly string[]> {
  const stored = await RunIndex.use(store, (index) => index.runs());
  const fingerprint = stored.find(({ run_id }) => run_id === newest)?.fingerprint ?? '';
  const { accepted, dropped } = await readBaseline(store.directory, scenario);
  if (baselineWindow(stored, new Set(accepted), fingerprint).length >= MIN_REFERENCE) return [];
  const known = new Set([...accepted, ...dropped]);
  const run_ids = stored
    .filter((run) => before.includes(run.run_id) && !known.has(run.run_id))
    .filter((run) => run.fingerprint === fingerprint && run.status === 'completed')
    .map(({ run_id }) => run_id)
    .toReversed();
  if (run_ids.length === 0) return [];
  const reason = `first runs of the baseline, which had fewer than ${MIN_REFERENCE}`;
  await changeBaseline(store, { scenario, action: 'accept', run_ids, author, reason });
  return run_ids;
}
