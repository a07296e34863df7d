import { join } from 'node:path';
import { CUSTOM_BUCKETS_SCHEMA, type NativeHistogram } from '../../../core/histogram/native-histogram.ts';
import { ownIdentity } from '../../files/process-identity.ts';
import { Backoff } from '../../http-client/backoff.ts';
import { publicUrl } from '../../http-client/public-url.ts';
import { DiskQueue, queueName, queuesDirectory } from './disk-queue.ts';
import {
  labelPairs,
  type PushedSeries,
  type SeriesLayout,
  type SeriesPoint,
  type PointMessage,
} from './pushed-series.ts';
import type { Receiver } from './receiver.ts';
import { RemoteWriteClient } from './remote-write-client.ts';
import { sendPending } from './send-pending.ts';
import { Sender, type Delayed, type SenderStatistics } from './sender.ts';

/** Indexes in a layout of the series of one classic histogram; `bounds` ascend, without `+Inf`. */
interface ClassicSeries {
  readonly series: PushedSeries;
  readonly bounds: readonly number[];
  /** One per bound, then `+Inf`. */
  readonly buckets: readonly number[];
  readonly sum: number;
}

/**
 * Native histograms with custom buckets (schema −53) from the classic ones of a layout: the same counts in the same
 * buckets, as one series each. The classic series are kept.
 */
export class CustomBuckets {
  readonly layout: SeriesLayout;
  readonly #histograms: readonly ClassicSeries[];

  constructor(layout: SeriesLayout) {
    this.#histograms = classicHistograms(layout);
    this.layout = { ...layout, nativeSeries: this.#histograms.map(({ series }) => series) };
  }

  withNative(point: SeriesPoint): SeriesPoint {
    const { values } = point;
    if (values === null) return point;
    return { ...point, native: this.#histograms.map((histogram) => nativeOf(histogram, values)) };
  }
}

function nativeOf({ bounds, buckets, sum }: ClassicSeries, values: readonly number[]): NativeHistogram {
  const cumulative = buckets.map((at) => values[at] ?? 0);
  const positive = cumulative.flatMap((upTo, index) => {
    const count = upTo - (cumulative[index - 1] ?? 0);
    return count > 0 ? [{ index, low: bounds[index - 1] ?? -Infinity, high: bounds[index] ?? Infinity, count }] : [];
  });
  return {
    schema: CUSTOM_BUCKETS_SCHEMA,
    zeroThreshold: 0,
    zeroCount: 0,
    count: cumulative.at(-1) ?? 0,
    sum: values[sum] ?? 0,
    positive,
    negative: [],
    customBounds: bounds,
  };
}

function classicHistograms({ families, series }: SeriesLayout): ClassicSeries[] {
  const found = new Map<string, { family: number; buckets: { bound: number; at: number }[]; sum: number }>();
  series.forEach(({ family, labels }, at) => {
    const { name = '', type } = families[family] ?? {};
    if (type !== 'histogram') return;
    const own = labels.filter(([label]) => label !== '__name__' && label !== 'le');
    const key = JSON.stringify([family, own]);
    const histogram = found.get(key) ?? { family, buckets: [], sum: -1 };
    found.set(key, histogram);
    const suffix = (labels.find(([label]) => label === '__name__')?.[1] ?? '').slice(name.length);
    if (suffix === '_sum') histogram.sum = at;
    if (suffix === '_bucket') {
      const le = labels.find(([label]) => label === 'le')?.[1] ?? '';
      histogram.buckets.push({ bound: le === '+Inf' ? Infinity : Number(le), at });
    }
  });
  return [...found].map(([key, { family, buckets, sum }]) => {
    const ordered = buckets.sort((a, b) => a.bound - b.bound);
    const [, own] = JSON.parse(key) as [number, [string, string][]];
    return {
      series: { family, labels: labelPairs(families[family]?.name ?? '', Object.fromEntries(own)) },
      bounds: ordered.map(({ bound }) => bound).filter(Number.isFinite),
      buckets: ordered.map(({ at }) => at),
      sum,
    };
  });
}

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
    append(layout, { values, ...rest }) {
      const point = { ...rest, values: values && Array.from(values) };
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

export type ToWorker =
  | { readonly kind: 'layout'; readonly number: number; readonly layout: SeriesLayout }
  | { readonly kind: 'point'; readonly layout: number; readonly point: PointMessage }
  | { readonly kind: 'finish'; readonly seconds: number };

export type FromWorker =
  /** The thread is loaded and cheap from now on. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'problem'; readonly line: string }
  /** The end of the run waits for the receiver: why, and for how many seconds at most. */
  | { readonly kind: 'delayed'; readonly reason: string; readonly seconds: number }
  | { readonly kind: 'finished'; readonly summary: SendingSummary };
