import { isRunId } from '../../../core/run/run-id.ts';
import { readInBatches } from '../../files/read-in-batches.ts';
import { resultFilePath, runFilePath } from '../run-paths.ts';
import type { RunStore } from '../run-store.ts';
import { stampsOf } from './stamps.ts';

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
