import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ownIdentity } from '../../files/process-identity.ts';
import { isOwned } from '../../files/ownership.ts';
import { codeOf, reasonOf } from '../../errors/store-errors.ts';
import { DiskQueue, type QueueOptions } from './disk-queue.ts';
import { moveQueue } from './move-queue.ts';
import { parseQueueName, queueName, queuesDirectory, type QueueName } from './queue-names.ts';

/** A queue that a run has left; only this process works on it until it is closed. */
export interface PendingQueue {
  readonly name: QueueName;
  readonly queue: DiskQueue;
  /** The receiver, without secrets. */
  readonly url: string;
  /** Releases the queue for others, or removes it if it is empty. */
  close(): void;
}

/**
 * The queues of a runs directory that no process is working on. Several processes may call this at once: each queue is
 * returned to one of them.
 */
export async function pendingQueues(
  runsDirectory: string,
  options: QueueOptions,
  wanted: (url: string) => boolean = () => true,
): Promise<readonly PendingQueue[]> {
  const directory = queuesDirectory(runsDirectory);
  const pending: PendingQueue[] = [];
  for (const folder of names(directory)) {
    const name = parseQueueName(folder);
    if (name === null || (name.owner !== null && (await isWorkedOn(name.owner, join(directory, folder))))) continue;
    const lastWork_ms = statSync(join(directory, folder), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    const mine = claim(directory, folder, name);
    if (mine === null) continue;
    const left = join(directory, queueName({ ...name, owner: null }));
    try {
      const { queue, head } = DiskQueue.open(mine, options);
      const close = (): void => queue.close(left);
      if (name.owner !== null) queue.endSeries(lastWork_ms);
      const isDone = queue.empty && queue.dropped === 0;
      if (wanted(head.url) || isDone) pending.push({ name, queue, url: head.url, close });
      else close();
    } catch (error) {
      // Its process was killed before it added anything.
      if (isBare(mine)) rmSync(mine, { recursive: true, force: true });
      else {
        options.problem(`${left} cannot be sent: ${reasonOf(error)}`);
        moveQueue(mine, (suffix) => left + suffix);
      }
    }
  }
  return pending;
}

const isBare = (folder: string): boolean => names(folder).every((name) => !name.startsWith('point-'));

/** A folder that was removed in the meantime has no owner. */
async function isWorkedOn(owner: NonNullable<QueueName['owner']>, path: string): Promise<boolean> {
  try {
    return await isOwned(owner, path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return true;
    throw error;
  }
}

function names(directory: string): readonly string[] {
  try {
    return readdirSync(directory).sort();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Null if another process claimed it first. */
function claim(directory: string, folder: string, name: QueueName): string | null {
  const owner = ownIdentity();
  try {
    return moveQueue(join(directory, folder), (suffix) =>
      join(directory, queueName({ ...name, shard: name.shard + suffix, owner })),
    );
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
