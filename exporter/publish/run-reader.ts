import type { RequestRecord } from '../../core/run/record.ts';
import type { ResultFile } from '../../core/run/result.ts';
import type { RunFile } from '../../core/run/run.ts';
import type { ServersFile } from '../../core/run/servers-file.ts';
import { servedRuns } from '../store/recovery/served-runs.ts';
import type { RunStore } from '../store/run-store.ts';
import type { DiscoveredRun } from './target-info.ts';
import type { ListedRun, RunList } from './views/run-library.ts';
import { readServersFile } from '../store/read-servers.ts';

/** Where the runs to publish come from: what is required of the store. */
export interface RunReader {
  /**
   * The finished runs without those whose live metrics are still served, newest first: a run has one publisher. The same
   * list, and the same objects in it, until a run changes.
   */
  list(): Promise<readonly ListedRun[]>;
  /** What a finished run is; rejects when it cannot be read. */
  readRun(runId: string): Promise<RunFile>;
  /** The result of a finished run; rejects when it cannot be read. */
  readResult(runId: string): Promise<ResultFile>;
  /** What the servers of a finished run said; null when nothing was collected. Rejects when it cannot be read. */
  readServers(runId: string): Promise<ServersFile | null>;
  /** The requests of a finished run; throws when they cannot be read. */
  readRecords(run: RunFile): AsyncIterable<RequestRecord>;
  /** The runs whose live metrics a process serves: of those that are running, and of those that ended a moment ago. */
  live(): Promise<readonly DiscoveredRun[]>;
}

/** The runs of a store, listed by `list`. */
export function storeSource(store: RunStore, list: RunList): RunReader {
  const published = new PublishedRuns();
  return {
    list: async () => {
      // In this order: a run that is published in between is left out, not shown twice.
      const all = await list.list();
      return published.of(all, await servedRuns(store.directory));
    },
    readRun: (runId) => store.readRun(runId),
    readResult: (runId) => store.readResult(runId),
    readServers: (runId) => readServersFile(store.pathOf(runId)),
    readRecords: (run) => store.readRecords(run),
    live: async () => [...(await store.running()), ...(await servedRuns(store.directory))],
  };
}

/** Keeps the list that was made last. */
class PublishedRuns {
  #all: readonly ListedRun[] | null = null;
  #served = '';
  #published: readonly ListedRun[] = [];

  of(all: readonly ListedRun[], served: readonly DiscoveredRun[]): readonly ListedRun[] {
    if (served.length === 0) return all;
    const ids = served.map(({ run_id }) => run_id);
    if (this.#all !== all || this.#served !== ids.join()) {
      this.#all = all;
      this.#served = ids.join();
      this.#published = all.filter(({ run_id }) => !ids.includes(run_id));
    }
    return this.#published;
  }
}
