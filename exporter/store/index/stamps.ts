import { setImmediate as nextTurn } from 'node:timers/promises';
import { runFilePath } from '../run-paths.ts';
import { isFolder } from '../../files/exists.ts';
import { ABSENT_FILE, fileStamp } from '../../files/file-stamp.ts';
import type { RunStore } from '../run-store.ts';

/** The event loop runs between batches. */
const STATS_AT_ONCE = 500;

/** The stamps of run.json of each finished run, including damaged ones, by run id. */
export async function runStamps(store: RunStore): Promise<Map<string, string>> {
  const stamps = await stampsOf(await store.names(), (runId) => runFilePath(store.pathOf(runId)));
  // A folder without a run.json is a damaged run; a file is not a run.
  for (const [name, stamp] of stamps) if (stamp === ABSENT_FILE && !isFolder(store.pathOf(name))) stamps.delete(name);
  return stamps;
}

/** The stamps of a file of each run, by run id. */
export async function stampsOf(
  runIds: readonly string[],
  pathOf: (runId: string) => string,
): Promise<Map<string, string>> {
  const stamps = new Map<string, string>();
  for (let i = 0; i < runIds.length; i += STATS_AT_ONCE) {
    for (const runId of runIds.slice(i, i + STATS_AT_ONCE)) stamps.set(runId, fileStamp(pathOf(runId)));
    await nextTurn();
  }
  return stamps;
}
