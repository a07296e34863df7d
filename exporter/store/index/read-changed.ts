import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DatabaseSync } from 'node:sqlite';
import { isRunId } from '../../../core/run/run-id.ts';
import { isFolder } from '../../files/exists.ts';
import { ABSENT_FILE, fileStamp } from '../../files/reloaded.ts';
import { readInBatches } from '../../files/read-regular-file.ts';
import { runFilePath, resultFilePath } from '../run-paths.ts';
import type { RunStore } from '../run-store.ts';
import { inTransaction, useIndexDatabase } from './index-database.ts';

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

/** Written to the index together; what a process that ends early has read is lost up to this many. */
const VALUES_PER_TRANSACTION = 1_000;

/** Something small that is read from one file of a run. */
interface KeptKind<T> {
  /** Identifies in the index what `read` gives; a change of that requires another `INDEX_VERSION`. */
  readonly name: string;
  /** JSON can represent the value. */
  read(runId: string): Promise<T>;
}

/** The same object until the file of its run changes. */
export type KeptValue<T> =
  { readonly value: T; readonly error: null } | { readonly value: null; readonly error: unknown };

/**
 * Something small of each run for a long-lived process: a file is read only when it is new or has changed, also since an
 * earlier process kept its value in the index of the runs directory. A directory that cannot be written is read anew by
 * each process.
 */
export class KeptValues<T> {
  readonly #store: RunStore;
  readonly #kind: KeptKind<T>;
  #known: ReadonlyMap<string, { readonly stamp: string; readonly kept: KeptValue<T> }> | null = null;
  #current: ReadonlyMap<string, KeptValue<T>> = new Map();

  constructor(store: RunStore, kind: KeptKind<T>) {
    this.#store = store;
    this.#kind = kind;
  }

  /**
   * `stamps`: those of the file of every run, by run ID. What cannot be read has its error, and is not in the index. The
   * same map until a stamp changes.
   */
  async current(stamps: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, KeptValue<T>>> {
    if (this.#isCurrent(stamps)) return this.#current;
    const known = this.#known ?? (await this.#indexed(stamps));
    const next = new Map<string, { readonly stamp: string; readonly kept: KeptValue<T> }>();
    const changed: string[] = [];
    for (const [runId, stamp] of stamps) {
      const found = known.get(runId);
      if (found?.stamp === stamp) next.set(runId, found);
      else changed.push(runId);
    }
    for (let i = 0; i < changed.length; i += VALUES_PER_TRANSACTION) {
      const read = await readInBatches(changed.slice(i, i + VALUES_PER_TRANSACTION), async (runId) => {
        const kept = await this.#kind.read(runId).then(
          (value): KeptValue<T> => ({ value, error: null }),
          (error: unknown): KeptValue<T> => ({ value: null, error }),
        );
        return { runId, stamp: stamps.get(runId) ?? '', kept };
      });
      for (const { runId, ...entry } of read) next.set(runId, entry);
      await this.#save(read);
    }
    this.#known = next;
    this.#current = new Map(Array.from(next, ([runId, { kept }]) => [runId, kept]));
    return this.#current;
  }

  #isCurrent(stamps: ReadonlyMap<string, string>): boolean {
    if (this.#known?.size !== stamps.size) return false;
    for (const [runId, stamp] of stamps) if (this.#known.get(runId)?.stamp !== stamp) return false;
    return true;
  }

  /** What the index has of these files; what it has of other ones is removed. */
  async #indexed(stamps: ReadonlyMap<string, string>) {
    return useIndexDatabase(this.#store.directory, (database) => {
      const found = new Map<string, { readonly stamp: string; readonly kept: KeptValue<T> }>();
      const outdated: string[] = [];
      const rows = database.prepare('SELECT run_id, stamp, json FROM kept WHERE kind = ?').iterate(this.#kind.name);
      for (const row of rows) {
        const [runId, stamp] = [String(row['run_id']), String(row['stamp'])];
        if (stamps.get(runId) !== stamp) outdated.push(runId);
        else found.set(runId, { stamp, kept: { value: JSON.parse(String(row['json'])) as T, error: null } });
      }
      if (outdated.length > 0) this.#remove(database, outdated);
      return found;
    });
  }

  #remove(database: DatabaseSync, runIds: readonly string[]): void {
    inTransaction(database, () => {
      const remove = database.prepare('DELETE FROM kept WHERE kind = ? AND run_id = ?');
      for (const runId of runIds) remove.run(this.#kind.name, runId);
    });
  }

  async #save(
    read: readonly { readonly runId: string; readonly stamp: string; readonly kept: KeptValue<T> }[],
  ): Promise<void> {
    await useIndexDatabase(this.#store.directory, (database) => {
      inTransaction(database, () => {
        const insert = database.prepare('INSERT OR REPLACE INTO kept (kind, run_id, stamp, json) VALUES (?, ?, ?, ?)');
        for (const { runId, stamp, kept } of read) {
          if (kept.error === null) insert.run(this.#kind.name, runId, stamp, JSON.stringify(kept.value));
        }
      });
    });
  }
}
