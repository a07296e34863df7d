import { join } from 'node:path';
import { isRunId } from '../../core/run/run-id.ts';
import type { ProcessIdentity } from './process-identity.ts';

const UNFINISHED = '.unfinished';
const CLAIM = /^([0-9A-Za-z-]{1,64})~(\d+)~([0-9a-z]+\.\d+)$/;

/** Where the runs are that are not finished. */
export const unfinishedDirectory = (runsDirectory: string): string => join(runsDirectory, UNFINISHED);

/** The files of one run's folder. */
export interface RunPaths {
  readonly folder: string;
  readonly run: string;
  readonly result: string;
  readonly records: string;
  /** Only while the run is not finished. */
  readonly jsonl: string;
  readonly parquet: string;
}

export function runPaths(folder: string, shard: string): RunPaths {
  const records = join(folder, 'records');
  return {
    folder,
    run: runFilePath(folder),
    result: resultFilePath(folder),
    records,
    jsonl: join(records, `${shard}.jsonl`),
    parquet: join(records, `${shard}.parquet`),
  };
}

export const runFilePath = (folder: string): string => join(folder, 'run.json');
export const resultFilePath = (folder: string): string => join(folder, 'result.json');

/**
 * The name of an unfinished run's folder while one process prepares, recovers or publishes it: nobody else may touch
 * it. A folder is claimed by renaming it, which only one process can do.
 */
export function claimedName(runId: string, owner: ProcessIdentity): string {
  return `${runId}~${owner.pid}~${owner.start_time}`;
}

/** What the name of an unfinished folder says; null when it is no run's. */
export function parseUnfinishedName(name: string): { runId: string; owner: ProcessIdentity | null } | null {
  if (isRunId(name)) return { runId: name, owner: null };
  const [, runId, pid, start_time] = CLAIM.exec(name) ?? [];
  if (runId === undefined || pid === undefined || start_time === undefined) return null;
  return { runId, owner: { pid: Number(pid), start_time } };
}
