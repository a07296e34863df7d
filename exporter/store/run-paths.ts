import { join } from 'node:path';
import { isRunId } from '../../core/run/run-id.ts';
import type { ProcessIdentity } from './process-identity.ts';

const UNFINISHED = '.unfinished';
const DAMAGED = '.damaged';
const EDIT = '.edit';
/** With the end of a file that was being written, if that is what it is. */
const CLAIM = /^([0-9A-Za-z-]{1,64})(\.discarded|\.edit-\d+)?~(\d+)~([0-9a-z]+\.\d+)(?:\.\d+\.tmp)?$/;

/** Where the runs are that are not finished. */
export const unfinishedDirectory = (runsDirectory: string): string => join(runsDirectory, UNFINISHED);

/** Where what cannot be read is put aside, never deleted. */
export const damagedDirectory = (runsDirectory: string): string => join(runsDirectory, DAMAGED);

/** The files of one run's folder. */
export interface RunPaths {
  readonly folder: string;
  readonly run: string;
  readonly result: string;
  readonly records: string;
  /** Only while the run is not finished. */
  readonly jsonl: string;
  /** Has a name for a moment only: see `FileShelf`. */
  readonly figures: string;
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
    figures: join(records, `${shard}.figures.tmp`),
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

/** The name of a folder in `.unfinished` whose content is of no use any more and is being removed. */
export function discardedName(runId: string, owner: ProcessIdentity): string {
  return `${runId}.discarded~${owner.pid}~${owner.start_time}`;
}

/** Where it is written down how a finished run is being changed. */
export const editPath = (runsDirectory: string, runId: string): string =>
  join(unfinishedDirectory(runsDirectory), `${runId}${EDIT}`);

/** The name of the `n`-th such file of a process while it is being written. */
export function draftName(runId: string, owner: ProcessIdentity, n: number): string {
  return `${runId}${EDIT}-${n}~${owner.pid}~${owner.start_time}`;
}

/** What the name of something in `.unfinished` says. */
export interface UnfinishedName {
  readonly runId: string;
  /** `discarded`: being removed; `edit`: a change of a finished run; `draft`: one that is not wholly written down. */
  readonly kind: 'run' | 'discarded' | 'edit' | 'draft';
  /** Null when the name does not tell. */
  readonly owner: ProcessIdentity | null;
}

/** Null when it is no run's. */
export function parseUnfinishedName(name: string): UnfinishedName | null {
  if (isRunId(name)) return { runId: name, kind: 'run', owner: null };
  const edited = name.slice(0, -EDIT.length);
  if (name.endsWith(EDIT) && isRunId(edited)) return { runId: edited, kind: 'edit', owner: null };
  const [, runId, suffix, pid, start_time] = CLAIM.exec(name) ?? [];
  if (runId === undefined || pid === undefined || start_time === undefined) return null;
  const kind = suffix === undefined ? 'run' : suffix.startsWith(EDIT) ? 'draft' : 'discarded';
  return { runId, kind, owner: { pid: Number(pid), start_time } };
}
