import type { RequestRecord } from '../../core/run/record.ts';
import type { ResultFile } from '../../core/run/result.ts';
import type { RunFile } from '../../core/run/run.ts';
import type { ServersFile } from '../servers/files/servers-file.ts';
import type { RunStore } from '../store/run-store.ts';
import type { ListedRun, RunList } from './run-list.ts';
import { readServersFile } from '../store/servers/read-servers-json.ts';

/** Where the runs to publish come from: what is required of the store. */
export interface RunReader {
  /** The finished runs, newest first; an object of the list is the same until its run changes. */
  list(): Promise<readonly ListedRun[]>;
  /** What a finished run is; rejects when it cannot be read. */
  readRun(runId: string): Promise<RunFile>;
  /** The result of a finished run; rejects when it cannot be read. */
  readResult(runId: string): Promise<ResultFile>;
  /** What the servers of a finished run said; null when nothing was collected. Rejects when it cannot be read. */
  readServers(runId: string): Promise<ServersFile | null>;
  /** The requests of a finished run; throws when they cannot be read. */
  readRecords(run: RunFile): AsyncIterable<RequestRecord>;
  /** The runs whose process is at work. */
  running(): Promise<readonly RunFile[]>;
}

/** The runs of a store, listed by `list`. */
export function storeSource(store: RunStore, list: RunList): RunReader {
  return {
    list: () => list.list(),
    readRun: (runId) => store.readRun(runId),
    readResult: (runId) => store.readResult(runId),
    readServers: (runId) => readServersFile(store.pathOf(runId)),
    readRecords: (run) => store.readRecords(run),
    running: () => store.running(),
  };
}
