import { join } from 'node:path';
import { isRunId } from '../../../core/run/run-id.ts';
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
