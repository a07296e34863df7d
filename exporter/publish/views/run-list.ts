import { oldestFirst, type OrderedRun } from '../../../core/run/run-order.ts';
import { KeptValues, type KeptValue } from '../../store/index/kept-values.ts';
import { runStamps } from '../../store/index/stamps.ts';
import { readFinishedRunFile } from '../../store/sealed/read-run-files.ts';
import type { RunStore } from '../../store/run-store.ts';
import { reasonOf, SchemaVersionError } from '../../errors/store-errors.ts';
import { runSummary } from './run-summary.ts';
import type { RunSummary } from '../../../core/api/runs.ts';

/** A finished run, or one whose run.json cannot be read, with the reason. The same object until its file changes. */
export type ListedRun =
  | { readonly run_id: string; readonly summary: RunSummary; readonly damage: null }
  | { readonly run_id: string; readonly summary: null; readonly damage: string; readonly isNewer?: boolean };

/**
 * The finished runs of a store for a process that serves them repeatedly: only files that are new or have
 * changed are read, and of each no more than its summary stays.
 */
export class RunList {
  readonly #store: RunStore;
  readonly #runs: KeptValues<RunSummary>;
  #current: ReadonlyMap<string, KeptValue<RunSummary>> = new Map();
  #byId: ReadonlyMap<string, ListedRun> = new Map();
  #sorted: readonly ListedRun[] = [];
  #looking: Promise<readonly ListedRun[]> | null = null;

  constructor(store: RunStore) {
    this.#store = store;
    this.#runs = new KeptValues(store, {
      name: 'run summary',
      read: async (runId) => runSummary(await readFinishedRunFile(store.pathOf(runId)), null),
    });
  }

  /**
   * Newest first, damaged ones last. The same list until a run comes, goes or changes. Rejects
   * when the runs directory cannot be read. Askers who come together share one look.
   */
  list(): Promise<readonly ListedRun[]> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async #look(): Promise<readonly ListedRun[]> {
    const current = await this.#runs.current(await runStamps(this.#store));
    if (current === this.#current) return this.#sorted;
    const byId = new Map(
      Array.from(current, ([runId, kept]) => {
        const before = this.#current.get(runId) === kept ? this.#byId.get(runId) : undefined;
        return [runId, before ?? listedRun(runId, kept)];
      }),
    );
    this.#current = current;
    this.#byId = byId;
    const placeOf = ({ summary, run_id }: ListedRun): OrderedRun => summary ?? { run_id, start: null };
    this.#sorted = [...byId.values()].sort((a, b) => oldestFirst(placeOf(b), placeOf(a)));
    return this.#sorted;
  }
}

function listedRun(runId: string, { value, error }: KeptValue<RunSummary>): ListedRun {
  return value === null
    ? { run_id: runId, summary: null, damage: reasonOf(error), isNewer: error instanceof SchemaVersionError }
    : { run_id: runId, summary: value, damage: null };
}
