import { statSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { runFilePath } from '../run-paths.ts';
import { isFolder } from '../../files/exists.ts';
import type { RunStore } from '../run-store.ts';
import { codeOf } from '../../errors/store-errors.ts';

/** A synchronous stat takes microseconds, an asynchronous one ten times that; the event loop runs between batches. */
const STATS_AT_ONCE = 500;

/** The stamp of a missing file. */
const ABSENT = 'absent';

/**
 * Identifies a state of a file without reading it: its inode (a replaced file has a new one), size and modification
 * time. `ABSENT` if the file does not exist.
 */
function stampOf(path: string): string {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat === undefined ? ABSENT : `${stat.ino}-${stat.size}-${stat.mtimeMs}-${stat.ctimeMs}`;
  } catch (error) {
    return codeOf(error) ?? 'unknown';
  }
}

/** The stamps of run.json of each finished run, including damaged ones, by run id. */
export async function runStamps(store: RunStore): Promise<Map<string, string>> {
  const stamps = await stampsOf(await store.names(), (runId) => runFilePath(store.pathOf(runId)));
  // A folder without a run.json is a damaged run; a file is not a run.
  for (const [name, stamp] of stamps) if (stamp === ABSENT && !isFolder(store.pathOf(name))) stamps.delete(name);
  return stamps;
}

/** The stamps of a file of each run, by run id. */
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
