import { runStamps } from '../store/index/stamps.ts';
import { readFinishedRunFile } from '../store/sealed/read-run-files.ts';
import type { RunStore } from '../store/run-store.ts';
import { reasonOf } from '../errors/store-errors.ts';
import { readInBatches } from '../files/read-in-batches.ts';
import { runSummary } from './views/run-summary.ts';
import type { RunSummary } from './views/run-summary.ts';

/** A finished run, or one whose run.json cannot be read, with the reason. The same object until its file changes. */
export type ListedRun =
  | { readonly run_id: string; readonly summary: RunSummary; readonly damage: null }
  | { readonly run_id: string; readonly summary: null; readonly damage: string };

/**
 * The finished runs of a store for a process that serves them repeatedly: only files that are new or have
 * changed are read, and of each no more than its summary stays.
 */
export class RunList {
  readonly #store: RunStore;
  #stamps: ReadonlyMap<string, string> = new Map();
  #byId: ReadonlyMap<string, ListedRun> = new Map();
  #sorted: readonly ListedRun[] = [];
  #looking: Promise<readonly ListedRun[]> | null = null;

  constructor(store: RunStore) {
    this.#store = store;
  }

  /**
   * Newest first; runs without a start of their own come last. The same list until a run comes, goes or changes. Rejects
   * when the runs directory cannot be read. Askers who come together share one look.
   */
  list(): Promise<readonly ListedRun[]> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async #look(): Promise<readonly ListedRun[]> {
    const stamps = await runStamps(this.#store);
    const changed = [...stamps.keys()].filter((runId) => this.#stamps.get(runId) !== stamps.get(runId));
    if (changed.length === 0 && stamps.size === this.#stamps.size) return this.#sorted;
    const byId = new Map([...this.#byId].filter(([runId]) => stamps.has(runId)));
    for (const listed of await readInBatches(changed, (runId) => this.#read(runId))) byId.set(listed.run_id, listed);
    this.#stamps = stamps;
    this.#byId = byId;
    this.#sorted = [...byId.values()].sort(
      (a, b) => descending(a.summary?.start ?? '', b.summary?.start ?? '') || descending(a.run_id, b.run_id),
    );
    return this.#sorted;
  }

  async #read(runId: string): Promise<ListedRun> {
    try {
      const run = await readFinishedRunFile(this.#store.pathOf(runId));
      return { run_id: runId, summary: runSummary(run, null), damage: null };
    } catch (error) {
      return { run_id: runId, summary: null, damage: reasonOf(error) };
    }
  }
}

function descending(a: string, b: string): number {
  return a < b ? 1 : a > b ? -1 : 0;
}
