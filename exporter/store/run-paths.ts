import { join, sep } from 'node:path';
import { readdir } from 'node:fs/promises';
import { isRunId } from '../../core/run/run-id.ts';
import type { ProcessIdentity } from '../files/process-identity.ts';
import { codeOf } from '../errors/expected-error.ts';

const UNFINISHED = '.unfinished';
const DAMAGED = '.damaged';
const EDIT = '.edit';
/** With the suffix of a file that is being written, if any. */
const CLAIM = /^([0-9A-Za-z-]{1,64})(\.discarded|\.page|\.edit-\d+)?~(\d+)~([0-9a-z]+\.\d+)(?:\.\d+\.tmp)?$/;

/** The folder of unfinished runs. */
export const unfinishedDirectory = (runsDirectory: string): string => join(runsDirectory, UNFINISHED);

/** The folder of unreadable runs, which are never deleted. */
export const damagedDirectory = (runsDirectory: string): string => join(runsDirectory, DAMAGED);

/** The files of one run's folder. */
export interface RunPaths {
  readonly folder: string;
  readonly run: string;
  readonly result: string;
  readonly records: string;
  /** Exists only while the run is unfinished. */
  readonly jsonl: string;
  /** Exists only for a moment: see */
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

// Made for each run at each scrape; `join` would take the whole path apart.
export const runFilePath = (folder: string): string => `${folder}${sep}run.json`;
export const resultFilePath = (folder: string): string => `${folder}${sep}result.json`;

/**
 * The name of an unfinished run's folder while one process prepares, recovers or publishes it; no other process may
 * touch it. A folder is claimed by renaming it, which only one process can do.
 */
export function claimedName(runId: string, owner: ProcessIdentity): string {
  return `${runId}~${owner.pid}~${owner.start_time}`;
}

/** The name of a folder in `.unfinished` that is being removed. */
export function discardedName(runId: string, owner: ProcessIdentity): string {
  return `${runId}.discarded~${owner.pid}~${owner.start_time}`;
}

/**
 * The name of a file in `.unfinished` that a process removes at once; if the process ends before that, opening the store
 * removes it. `what`: letters, digits and dashes; `n` distinguishes those of one process.
 */
export function momentaryName(what: string, owner: ProcessIdentity, n = 0): string {
  return `${discardedName(what, owner)}.${n}.tmp`;
}

/** The name of a file in `.unfinished`: the run is finished, and a process still serves its live metrics. */
export function servedName(runId: string, owner: ProcessIdentity): string {
  return `${runId}.page~${owner.pid}~${owner.start_time}`;
}

/** The record of a change of a finished run. */
export const editPath = (runsDirectory: string, runId: string): string =>
  join(unfinishedDirectory(runsDirectory), `${runId}${EDIT}`);

/** The name of the `n`-th such file of a process while it is being written. */
export function draftName(runId: string, owner: ProcessIdentity, n: number): string {
  return `${runId}${EDIT}-${n}~${owner.pid}~${owner.start_time}`;
}

/** The meaning of a name in `.unfinished`. */
export interface UnfinishedName {
  readonly runId: string;
  /**
   * `discarded`: being removed; `page`: a finished run whose live metrics are still served; `edit`: a change of a finished
   * run; `draft`: a change that is not completely recorded.
   */
  readonly kind: 'run' | 'discarded' | 'page' | 'edit' | 'draft';
  /** Null if unknown from the name. */
  readonly owner: ProcessIdentity | null;
}

/** Null if it is not a run's. */
export function parseUnfinishedName(name: string): UnfinishedName | null {
  if (isRunId(name)) return { runId: name, kind: 'run', owner: null };
  const edited = name.slice(0, -EDIT.length);
  if (name.endsWith(EDIT) && isRunId(edited)) return { runId: edited, kind: 'edit', owner: null };
  const [, runId, suffix, pid, start_time] = CLAIM.exec(name) ?? [];
  if (runId === undefined || pid === undefined || start_time === undefined) return null;
  return { runId, kind: kindOf(suffix), owner: { pid: Number(pid), start_time } };
}

function kindOf(suffix: string | undefined): UnfinishedName['kind'] {
  if (suffix === undefined) return 'run';
  if (suffix === '.page') return 'page';
  return suffix.startsWith(EDIT) ? 'draft' : 'discarded';
}

/** Next to the finished runs, under a name that is not a run's: a runs directory for each shard of a run. */
const folderOf = (runsDirectory: string, runId: string): string => join(runsDirectory, `${runId}.shards`);

/** The runs directory in which one shard of a run is measured. */
export const shardDirectory = (runsDirectory: string, runId: string, shard: string): string =>
  join(folderOf(runsDirectory, runId), shard);

/** The existing runs directories of a run's shards, in the order of their numbers. */
export async function shardDirectories(runsDirectory: string, runId: string): Promise<readonly string[]> {
  const folder = folderOf(runsDirectory, runId);
  try {
    const names = (await readdir(folder)).filter((name) => /^\d+$/.test(name));
    return names.sort((a, b) => Number(a) - Number(b)).map((name) => join(folder, name));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** `shard 3`, or `shards 3, 5 and 8`; at most five are named. */
export function shardsText(parts: readonly (number | string)[]): string {
  const named = parts.slice(0, MAX_NAMED).map(String);
  const more = parts.length - named.length;
  if (parts.length === 1) return `shard ${named[0]}`;
  const last = more > 0 ? `${more} more` : named.pop();
  return `shards ${named.join(', ')} and ${last}`;
}

const MAX_NAMED = 5;
