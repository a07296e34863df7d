import { setImmediate as nextTurn } from 'node:timers/promises';
import { isRunId } from '../../../core/run/run-id.ts';
import { isFolder } from '../../files/exists.ts';
import { ABSENT_FILE, fileStamp } from '../../files/reloaded.ts';
import { readInBatches } from '../../files/read-regular-file.ts';
import { runFilePath, resultFilePath } from '../run-paths.ts';
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

/** How to read a run, and whether what was read is kept until the files change. */
interface KeptReading<T> {
  readonly read: (runId: string) => Promise<T>;
  readonly isKept: (value: T) => boolean;
}

/**
 * Reads something of each finished run for a long-lived process: a run is read again only when its run.json or its
 * result.json has changed. The `most` most recently requested runs are kept. Names that are not run ids are
 * not in the response.
 */
export function readChanged<T>(
  store: RunStore,
  most: number,
  { read, isKept }: KeptReading<T>,
): (runIds: readonly string[]) => Promise<ReadonlyMap<string, T>> {
  const kept = new Map<string, { readonly stamp: string; readonly value: T }>();
  return async (runIds) => {
    const valid = [...new Set(runIds)].filter(isRunId);
    const runStamps = await stampsOf(valid, (id) => runFilePath(store.pathOf(id)));
    const resultStamps = await stampsOf(valid, (id) => resultFilePath(store.pathOf(id)));
    const current = await readInBatches(valid, async (id) => {
      const stamp = `${runStamps.get(id) ?? ''} ${resultStamps.get(id) ?? ''}`;
      const known = kept.get(id);
      return [id, known?.stamp === stamp ? known : { stamp, value: await read(id) }] as const;
    });
    for (const [id, entry] of current) {
      if (!isKept(entry.value)) continue;
      // At the end: the least recently used are in front.
      kept.delete(id);
      kept.set(id, entry);
    }
    for (const id of [...kept.keys()].slice(0, Math.max(0, kept.size - most))) kept.delete(id);
    return new Map(current.map(([id, { value }]) => [id, value]));
  };
}
