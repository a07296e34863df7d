import type { Backoff } from './backoff.ts';
import type { DiskQueue, QueuedPoints } from './disk-queue.ts';
import { writeRequestV1, type SeriesKind } from './encode-v1.ts';
import { writeRequestV2 } from './encode-v2.ts';
import type { Protocol, ProtocolChoice } from './receiver.ts';
import type { RemoteWriteClient, SendOutcome } from './remote-write-client.ts';

/** A request holds about as many samples at most; one point of a layout is never divided. */
const SAMPLES_PER_REQUEST = 10_000;
/** Tries of native histograms that end in a server's error, while its numbers are taken, before they are given up. */
const NATIVE_TRIES = 3;

export interface SenderStatistics {
  /** Samples that the receiver has taken. */
  readonly written: number;
  /** Samples that the receiver will never take. */
  readonly rejected: number;
  /** Samples given up on this side. */
  readonly lost: number;
  /** Samples that wait. */
  readonly waiting: number;
  /** Why the receiver does not take them now; null while it does. */
  readonly trouble: string | null;
}

export interface SenderOptions {
  readonly protocol: ProtocolChoice;
  readonly backoff: Backoff;
  /** Told in one line of what is dropped, once for each reason, and of what the receiver cannot. */
  readonly problem: (line: string) => void;
}

type Step = 'sent' | 'again';

/**
 * Sends the points of one queue in their order, one request at a time, as the specifications of remote write 1.0 and 2.0
 * demand of senders: what fails for the moment is tried again, what is refused is dropped and counted.
 */
export class Sender {
  readonly #queue: DiskQueue;
  readonly #client: RemoteWriteClient;
  readonly #options: SenderOptions;
  readonly #told = new Set<string>();
  readonly #stop = new AbortController();
  #protocol: Protocol;
  #settled: boolean;
  #metadataSentFor: unknown = null;
  #nativeTaken = true;
  #nativeFailures = 0;
  /** The request was sent before, and nobody knows what became of it. */
  #unanswered = false;
  #written = 0;
  #rejected = 0;
  #trouble: string | null = null;
  #working: Promise<void> | null = null;

  constructor(queue: DiskQueue, client: RemoteWriteClient, options: SenderOptions) {
    this.#queue = queue;
    this.#client = client;
    this.#options = options;
    this.#protocol = options.protocol === '1' ? '1' : '2';
    this.#settled = options.protocol !== 'auto';
  }

  get statistics(): SenderStatistics {
    return {
      written: this.#written,
      rejected: this.#rejected,
      lost: this.#queue.lost,
      waiting: this.#queue.samples,
      trouble: this.#trouble,
    };
  }

  /** Begins to send what waits, unless it is being sent. */
  wake(): void {
    this.#working ??= this.#work().finally(() => {
      this.#working = null;
      // Something came while the last step ended.
      if (!this.#queue.empty && !this.#stop.signal.aborted) this.wake();
    });
  }

  /** Resolves when nothing waits any more, or after so many seconds. */
  async drained(seconds: number): Promise<void> {
    const deadline = performance.now() + seconds * 1000;
    while (!this.#queue.empty && performance.now() < deadline && !this.#stop.signal.aborted) {
      this.wake();
      const done = new AbortController();
      const late = pause((deadline - performance.now()) / 1000, AbortSignal.any([done.signal, this.#stop.signal]));
      await Promise.race([this.#working, late]);
      done.abort();
    }
  }

  /** Ends at once; what was not acknowledged stays in the queue. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#working;
  }

  async #work(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const queued = this.#queue.next(SAMPLES_PER_REQUEST);
      if (queued === null) return;
      if ((await this.#send(queued, 'numbers')) === 'again') continue;
      while (!this.#stop.signal.aborted && (await this.#send(queued, 'native')) === 'again');
      if (this.#stop.signal.aborted) return;
      this.#queue.remove(queued.entries);
    }
  }

  async #send(queued: QueuedPoints, kind: SeriesKind): Promise<Step> {
    const { layout, points } = queued;
    const series = kind === 'numbers' ? layout.series : layout.nativeSeries;
    const samples = series.length * points.length;
    if (samples === 0) return 'sent';
    if (kind === 'native' && !this.#nativeTaken) {
      this.#rejected += samples;
      return 'sent';
    }
    const outcome = await this.#client.send(this.#message(queued, kind), this.#protocol, this.#stop.signal);
    return this.#take(outcome, kind, samples, layout);
  }

  #message({ layout, points }: QueuedPoints, kind: SeriesKind): Uint8Array {
    if (this.#protocol === '2') return writeRequestV2(layout, points, kind);
    return writeRequestV1(layout, points, kind, kind === 'numbers' && this.#metadataSentFor !== layout);
  }

  async #take(outcome: SendOutcome, kind: SeriesKind, samples: number, layout: unknown): Promise<Step> {
    switch (outcome.kind) {
      case 'written':
        this.#accepted();
        if (kind === 'numbers') this.#metadataSentFor = layout;
        this.#written += outcome.written ?? samples;
        this.#drop(samples - (outcome.written ?? samples), 'the receiver counts fewer samples than it was sent');
        return 'sent';
      case 'rejected': {
        const reason = this.#unanswered ? `${outcome.reason} (an earlier try may have been taken)` : outcome.reason;
        this.#accepted();
        if (kind === 'native') this.#giveUpNative(reason);
        this.#written += outcome.written ?? 0;
        this.#drop(samples - (outcome.written ?? 0), reason);
        return 'sent';
      }
      case 'unsupported':
        return this.#unsupported(outcome.reason, kind, samples);
      case 'retry':
        return this.#wait(outcome, kind);
    }
  }

  /** The receiver works. */
  #accepted(): void {
    this.#settled = true;
    this.#trouble = null;
    this.#unanswered = false;
    this.#nativeFailures = 0;
    this.#options.backoff.reset();
  }

  #unsupported(reason: string, kind: SeriesKind, samples: number): Step {
    if (!this.#settled && this.#protocol === '2') {
      this.#protocol = '1';
      return 'again';
    }
    this.#trouble = null;
    if (kind === 'native') this.#giveUpNative(reason);
    this.#drop(samples, reason);
    return 'sent';
  }

  async #wait(outcome: SendOutcome & { kind: 'retry' }, kind: SeriesKind): Promise<Step> {
    if (this.#stop.signal.aborted) return 'again';
    // Prometheus before version 3 answers 500 when native histograms are not enabled.
    if (kind === 'native' && outcome.status !== null && ++this.#nativeFailures >= NATIVE_TRIES) {
      this.#giveUpNative(outcome.reason);
      return 'again';
    }
    this.#trouble = outcome.reason;
    this.#unanswered ||= outcome.status === null;
    await pause(this.#options.backoff.next(outcome.afterSeconds), this.#stop.signal);
    return 'again';
  }

  #giveUpNative(reason: string): void {
    if (!this.#nativeTaken) return;
    this.#nativeTaken = false;
    this.#trouble = null;
    this.#tell(`the receiver does not take native histograms, they are left out: ${reason}`);
  }

  #drop(samples: number, reason: string): void {
    if (samples <= 0) return;
    this.#rejected += samples;
    this.#tell(`samples are refused and dropped: ${reason}`);
  }

  #tell(line: string): void {
    if (this.#told.has(line)) return;
    this.#told.add(line);
    this.#options.problem(line);
  }
}

function pause(seconds: number, givenUp: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (givenUp.aborted) return resolve();
    const wake = (): void => {
      clearTimeout(timer);
      givenUp.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, Math.max(0, seconds) * 1000);
    givenUp.addEventListener('abort', wake);
  });
}
