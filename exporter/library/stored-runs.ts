import { resolve } from 'node:path';
import type { RequestRecord } from '../../core/run/record.ts';
import type { ResultFile } from '../../core/run/result.ts';
import type { RunFile } from '../../core/run/run.ts';
import { RunsDirectoryError } from '../errors/store-errors.ts';
import { isStorageUrl } from '../store/storage-location.ts';
import { RunStore, type RunListing } from '../store/run-store.ts';

/** A finished run: `run.json`, `result.json` and the directory that holds them. */
export interface StoredRun {
  readonly path: string;
  readonly run: RunFile;
  readonly result: ResultFile;
}

/** The finished runs of a directory, newest first, damaged ones with the reason; none if it does not exist. */
export function listRuns(runsDir: string): Promise<RunListing[]> {
  return storeAt(runsDir).list();
}

/** Reads a finished run; files of earlier versions are migrated in memory. Throws if it is missing or damaged. */
export async function readRun(runsDir: string, runId: string): Promise<StoredRun> {
  const store = storeAt(runsDir);
  const [run, result] = await Promise.all([store.readRun(runId), store.readResult(runId)]);
  return { path: store.pathOf(runId), run, result };
}

/** The requests of a finished run, one after the other. Throws if the run or its records cannot be read. */
export async function* readRecords(runsDir: string, runId: string): AsyncGenerator<RequestRecord> {
  const store = storeAt(runsDir);
  yield* store.readRecords(await store.readRun(runId));
}

/** Reads only: runs whose process is gone are left to the next command. */
function storeAt(runsDir: string): RunStore {
  if (isStorageUrl(runsDir))
    throw new RunsDirectoryError(`${runsDir} is in object storage: download its runs with \`llmbench runs pull\``);
  return new RunStore(resolve(runsDir));
}
