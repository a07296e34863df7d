import { join } from 'node:path';
import { ownIdentity } from '../../files/process-identity.ts';
import { publicUrl } from '../../http-client/public-url.ts';
import { Backoff } from '../../http-client/backoff.ts';
import { CustomBuckets } from './custom-buckets.ts';
import { DiskQueue } from './disk-queue.ts';
import { queueName, queuesDirectory } from './queue-names.ts';
import type { Receiver } from './receiver.ts';
import { RemoteWriteClient } from './remote-write-client.ts';
import { sendPending } from './send-pending.ts';
import { Sender, type Delayed, type SenderStatistics } from './sender.ts';
import type { SeriesLayout, PointMessage } from './pushed-series.ts';

export interface SendingOptions {
  readonly runsDirectory: string;
  readonly runId: string;
  readonly shard: string;
  readonly receiver: Receiver;
  readonly version: string;
  readonly maxQueueBytes: number;
  /** Native histograms with custom buckets in addition to each classic one. */
  readonly customBuckets: boolean;
  /** The caller reports dropped samples itself, so that `push` does not have to; default false. */
  readonly forgetsDropped?: boolean;
}

export interface SendingSummary extends SenderStatistics {
  /** Samples of earlier runs that were sent now. */
  readonly earlier: number;
}

/** The queue of one shard of one run and its sender. */
export interface Sending {
  /** Why the receiver does not accept samples now; null if it does. */
  readonly trouble: string | null;
  declare(number: number, layout: SeriesLayout): void;
  append(layout: number, point: PointMessage): void;
  /** Waits until all is sent, at most this many seconds; a later process sends the rest. `delayed`: as of `Sender.drained`. */
  finish(seconds: number, delayed?: Delayed): Promise<SendingSummary>;
}

export function startSending(options: SendingOptions, problem: (line: string) => void): Sending {
  const { runsDirectory, receiver, version, runId, shard } = options;
  const directory = queuesDirectory(runsDirectory);
  const name = { runId, shard, owner: ownIdentity() };
  const queueOptions = { maxBytes: options.maxQueueBytes, problem };
  const head = { schema_version: 1 as const, url: publicUrl(receiver.url) };
  const queue = DiskQueue.create(join(directory, queueName(name)), head, queueOptions);
  const client = new RemoteWriteClient(receiver, version);
  const senderOptions = { protocol: receiver.protocol, problem };
  const sender = new Sender(queue, client, { ...senderOptions, backoff: new Backoff() });
  const custom = new Map<number, CustomBuckets>();
  return {
    get trouble() {
      return sender.statistics.trouble;
    },
    declare(number, layout) {
      if (options.customBuckets) custom.set(number, new CustomBuckets(layout));
      queue.declare(number, custom.get(number)?.layout ?? layout);
    },
    append(layout, { time_ms, values, native }) {
      const point = { time_ms, values: values && Array.from(values), native };
      queue.append(layout, custom.get(layout)?.withNative(point) ?? point);
      sender.wake();
    },
    async finish(seconds, delayed) {
      const deadline = performance.now() + seconds * 1000;
      await sender.drained(seconds, delayed);
      await sender.stop();
      const { statistics } = sender;
      if (options.forgetsDropped === true) queue.forgetDropped();
      queue.close(join(directory, queueName({ ...name, owner: null })));
      const left = (deadline - performance.now()) / 1000;
      client.close();
      const tryEarlier = statistics.trouble === null && left > 0;
      const earlier = tryEarlier
        ? await sendPending({
            runsDirectory,
            receiver,
            version,
            seconds: left,
            problem,
            delayed,
            reportsDropped: false,
          })
        : null;
      return { ...statistics, earlier: earlier?.written ?? 0 };
    },
  };
}
