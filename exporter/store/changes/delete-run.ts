import { rm } from 'node:fs/promises';
import { isOrdered } from '../../../core/run/run-id.ts';
import { codeOf, isDiskFull, RunsDirectoryError } from '../../errors/expected-error.ts';
import type { IndexedRun } from '../index/rows.ts';
import type { RunStore } from '../run-store.ts';
import { discardFolder } from '../temporary-file.ts';

/**
 * Deletes a finished run permanently, and atomically unless the disk is full. False if it no longer existed. Throws the
 * file system's error.
 */
export async function deleteRun(store: RunStore, runId: string): Promise<boolean> {
  const folder = store.pathOf(runId);
  try {
    await store.checkWritable();
    await discardFolder(store.directory, folder, runId);
    return true;
  } catch (error) {
    const code = codeOf(error instanceof RunsDirectoryError ? error.cause : error);
    if (code === 'ENOENT') return false;
    if (!isDiskFull(code)) throw error;
    // Deleting is what frees the disk, and a part of a run is worth nothing.
    await rm(folder, { recursive: true, force: true });
    return true;
  }
}

/** Retention rules; a run is kept if any rule keeps it. Null disables a rule. */
export interface PruneRules {
  /** The newest runs of each scenario; also runs of which it is not known how new they are. */
  readonly keepLast: number | null;
  /** Runs that started within the last days, or were imported within them and have no start. */
  readonly keepDays: number | null;
  /** Runs with a tag. */
  readonly keepTagged: boolean;
}

const MS_PER_DAY = 86_400_000;

/**
 * The runs that no rule keeps, of `runs`, sorted from newest to oldest. Damaged runs are never included: their content
 * is unknown.
 */
export function prunedRuns(runs: readonly IndexedRun[], rules: PruneRules, now: Date): IndexedRun[] {
  const seen = new Map<string, number>();
  return runs.filter((run) => {
    if (run.damage !== null || run.scenario === null) return false;
    const newer = seen.get(run.scenario) ?? 0;
    seen.set(run.scenario, newer + 1);
    const { keepLast, keepDays, keepTagged } = rules;
    if (keepLast !== null && (newer < keepLast || (keepLast > 0 && !isOrdered(run)))) return false;
    if (keepDays !== null && isYounger(run.start ?? run.imported_at, keepDays, now)) return false;
    return !(keepTagged && run.tags.length > 0);
  });
}

function isYounger(since: string | null, days: number, now: Date): boolean {
  return since === null || now.getTime() - Date.parse(since) < days * MS_PER_DAY;
}
