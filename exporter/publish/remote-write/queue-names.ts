import { join } from 'node:path';
import { renameSync } from 'node:fs';
import { isRunId } from '../../../core/run/run-id.ts';
import { codeOf } from '../../errors/expected-error.ts';
import type { ProcessIdentity } from '../../files/process-identity.ts';

/** Folder of the queues: hidden from the list of runs. */
export const queuesDirectory = (runsDirectory: string): string => join(runsDirectory, '.remote-write');

const NAME = /^([0-9A-Za-z-]{1,64})~([0-9A-Za-z-]{1,64})(?:~(\d+)~([0-9a-z]+\.\d+))?$/;

/** The folder of a queue: one shard of one run, with the process that works on it, if any. */
export interface QueueName {
  readonly runId: string;
  readonly shard: string;
  readonly owner: ProcessIdentity | null;
}

export function queueName({ runId, shard, owner }: QueueName): string {
  const own = `${runId}~${shard}`;
  return owner === null ? own : `${own}~${owner.pid}~${owner.start_time}`;
}

/** Null if it is not the name of a queue. */
export function parseQueueName(name: string): QueueName | null {
  const [, runId = '', shard = '', pid, start_time] = NAME.exec(name) ?? [];
  if (!isRunId(runId) || !isRunId(shard)) return null;
  const owner = pid === undefined || start_time === undefined ? null : { pid: Number(pid), start_time };
  return { runId, shard, owner };
}

/** More queues of one shard of one run than anybody leaves. */
const MAX_QUEUES = 1000;
const TAKEN: ReadonlySet<string | null> = new Set(['ENOTEMPTY', 'EEXIST']);

/**
 * Renames the folder of a queue to the first free name, and returns it: `suffix` is empty, or `-2`, `-3` and so on where
 * queues of the same shard of a run exist, such as those of repeated backfills. Throws the file system's error.
 */
export function moveQueue(folder: string, nameWith: (suffix: string) => string): string {
  for (let number = 1; ; number += 1) {
    const name = nameWith(number === 1 ? '' : `-${number}`);
    try {
      if (name !== folder) renameSync(folder, name);
      return name;
    } catch (error) {
      if (!TAKEN.has(codeOf(error)) || number === MAX_QUEUES) throw error;
    }
  }
}
