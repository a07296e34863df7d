import { statSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { runFilePath } from '../run-paths.ts';
import type { RunStore } from '../run-store.ts';
import { codeOf } from '../store-errors.ts';

/** A synchronous stat costs microseconds and an asynchronous one ten times that; others may go on in between. */
const STATS_AT_ONCE = 500;

/** The stamp of a file that is not there. */
const ABSENT = 'absent';

/** Whether there is a folder of that path, or something of which that cannot be told: reading it says why. */
export function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return true;
  }
}

/**
 * What tells one state of a file from another without reading it: its inode (a file that is replaced has a new one), its
 * size and its time of change. `ABSENT` when there is no such file.
 */
function stampOf(path: string): string {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat === undefined ? ABSENT : `${stat.ino}-${stat.size}-${stat.mtimeMs}-${stat.ctimeMs}`;
  } catch (error) {
    return codeOf(error) ?? 'unknown';
  }
}

/** The stamps of run.json of each finished run, also of damaged ones, by the run's name. */
export async function runStamps(store: RunStore): Promise<Map<string, string>> {
  const stamps = await stampsOf(await store.names(), (runId) => runFilePath(store.pathOf(runId)));
  // A folder without a run.json is a damaged run; a file is none.
  for (const [name, stamp] of stamps) if (stamp === ABSENT && !isFolder(store.pathOf(name))) stamps.delete(name);
  return stamps;
}

/** The stamps of a file of each run, by the run's name. */
export async function stampsOf(
  runIds: readonly string[],
  pathOf: (runId: string) => string,
): Promise<Map<string, string>> {
  const stamps = new Map<string, string>();
  for (let i = 0; i < runIds.length; i += STATS_AT_ONCE) {
    for (const runId of runIds.slice(i, i + STATS_AT_ONCE)) stamps.set(runId, stampOf(pathOf(runId)));
    await nextTurn();
  }
  return stamps;
}
