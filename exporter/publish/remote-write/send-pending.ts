import { publicUrl } from '../../http-client/public-url.ts';
import { Backoff } from '../../http-client/backoff.ts';
import { pendingQueues } from './pending-queues.ts';
import type { Receiver } from './receiver.ts';
import { RemoteWriteClient } from './remote-write-client.ts';
import { Sender, type Delayed } from './sender.ts';

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
