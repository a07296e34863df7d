import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, reasonOf } from '../../errors/expected-error.ts';
import { isOwned, ownIdentity } from '../../files/process-identity.ts';
import { Backoff } from '../../http-client/backoff.ts';
import { publicUrl } from '../../http-client/public-url.ts';
import {
  DiskQueue,
  type QueueOptions,
  moveQueue,
  parseQueueName,
  queueName,
  queuesDirectory,
  type QueueName,
} from './disk-queue.ts';
import type { Receiver } from './receiver.ts';
import { RemoteWriteClient } from './remote-write-client.ts';
import { Sender, type Delayed } from './sender.ts';

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

export interface SendPendingOptions {
  readonly runsDirectory: string;
  readonly receiver: Receiver;
  readonly version: string;
  /** Time limit. */
  readonly seconds: number;
  readonly problem: (line: string) => void;
  /** Whether the caller reports what was dropped, which is then forgotten. */
  readonly reportsDropped: boolean;
  /** As of `Sender.drained`. */
  readonly delayed?: Delayed | undefined;
}

export interface SentPending {
  readonly queues: number;
  readonly written: number;
  readonly dropped: number;
  /** Dropped before by the runs themselves, which the user may not have seen. */
  readonly dropped_before: number;
  /** The runs of these. */
  readonly runs_with_dropped: readonly string[];
  readonly waiting: number;
  /** Why the rest still waits; null if unknown. */
  readonly trouble: string | null;
  /** Other receivers with waiting samples. */
  readonly elsewhere: readonly string[];
}

/** Runs whose dropped samples are remembered, at most, without a call of `push`. */
const MAX_DROPPED_NOTES = 100;

/** Sends the samples that runs have left for a receiver, each queue in order. */
export async function sendPending(options: SendPendingOptions): Promise<SentPending> {
  const { runsDirectory, receiver, problem, delayed } = options;
  const deadline = performance.now() + options.seconds * 1000;
  const own = publicUrl(receiver.url);
  const elsewhere = new Set<string>();
  const wanted = (url: string): boolean => {
    if (url !== own) elsewhere.add(url);
    return url === own;
  };
  const client = new RemoteWriteClient(receiver, options.version);
  const total = { queues: 0, written: 0, dropped: 0, dropped_before: 0, waiting: 0 };
  const runsWithDropped = new Set<string>();
  let trouble: string | null = null;
  try {
    const queues = await pendingQueues(runsDirectory, { maxBytes: Infinity, problem }, wanted);
    // In the order of their names, and so of the start of their runs.
    const reported = new Set(
      options.reportsDropped ? queues : queues.filter(({ queue }) => queue.empty).slice(0, -MAX_DROPPED_NOTES),
    );
    for (const pending of queues) {
      const before = pending.queue.dropped;
      const sender = new Sender(pending.queue, client, {
        protocol: receiver.protocol,
        problem,
        backoff: new Backoff(),
      });
      await sender.drained(Math.max(0, (deadline - performance.now()) / 1000), delayed);
      await sender.stop();
      const { statistics } = sender;
      if (reported.has(pending)) pending.queue.forgetDropped();
      pending.close();
      if (before > 0) runsWithDropped.add(pending.name.runId);
      total.dropped_before += before;
      total.queues += 1;
      total.written += statistics.written;
      total.dropped += statistics.rejected + statistics.lost;
      total.waiting += statistics.waiting;
      trouble ??= statistics.trouble;
    }
  } finally {
    client.close();
  }
  return { ...total, runs_with_dropped: [...runsWithDropped], trouble, elsewhere: [...elsewhere] };
}
