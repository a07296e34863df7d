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

/** Refusals that may be due to some of the samples, those that are too old or out of order (Thanos: 409, Prometheus 2: 500). */
const OF_SOME_SAMPLES: ReadonlySet<number> = new Set([400, 409, 500]);
/** So often one batch of points is divided, until the rest of it is given up: when all are too old, each is refused. */
const MOST_DIVISIONS = 64;

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

/** How often a batch of points may still be divided. */
interface Division {
  left: number;
}

/**
 * Sends the points of one queue in their order, one request at a time, as the specifications of remote write 1.0 and 2.0
 * demand of senders: what fails for the moment is tried again, what is refused is dropped and counted.
 *
 * A receiver such as Prometheus refuses a request as a whole when one of its samples is too old. What was refused is never
 * sent again as it was, but its points of time are, in two requests, then in four: only those are lost that are refused by
 * themselves.
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
  /** Some of the points at hand were refused for themselves. */
  #numbersDivided = false;
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
      this.#numbersDivided = false;
      if ((await this.#send(queued, 'numbers')) === 'again') continue;
      while (!this.#stop.signal.aborted && (await this.#send(queued, 'native')) === 'again');
      if (this.#stop.signal.aborted) return;
      this.#queue.remove(queued.entries);
    }
  }

  async #send(queued: QueuedPoints, kind: SeriesKind, division: Division | null = null): Promise<Step> {
    const { layout, points } = queued;
    const series = kind === 'numbers' ? layout.series : layout.nativeSeries;
    const samples = series.length * points.length;
    if (samples === 0) return 'sent';
    if (kind === 'native' && !this.#nativeTaken) {
      this.#rejected += samples;
      return 'sent';
    }
    const outcome = await this.#client.send(this.#message(queued, kind), this.#protocol, this.#stop.signal);
    const divided = division ?? { left: MOST_DIVISIONS };
    // Native histograms alone are refused for what they are; an earlier try without an answer may have been taken.
    const mayBeOfSome = (kind === 'numbers' || this.#numbersDivided) && !this.#unanswered;
    if (isOfSome(outcome) && mayBeOfSome && points.length > 1 && divided.left > 0) {
      this.#numbersDivided = true;
      await this.#sendHalves(queued, kind, divided);
      return 'sent';
    }
    return this.#take(outcome, kind, samples, layout, division !== null);
  }

  /** The earlier half first: a receiver takes samples in their order. */
  async #sendHalves(queued: QueuedPoints, kind: SeriesKind, division: Division): Promise<void> {
    division.left -= 1;
    this.#accepted();
    const middle = Math.ceil(queued.points.length / 2);
    for (const points of [queued.points.slice(0, middle), queued.points.slice(middle)]) {
      const half = { ...queued, points };
      while (!this.#stop.signal.aborted && (await this.#send(half, kind, division)) === 'again');
    }
  }

  #message({ layout, points }: QueuedPoints, kind: SeriesKind): Uint8Array {
    if (this.#protocol === '2') return writeRequestV2(layout, points, kind);
    return writeRequestV1(layout, points, kind, kind === 'numbers' && this.#metadataSentFor !== layout);
  }

  async #take(
    outcome: SendOutcome,
    kind: SeriesKind,
    samples: number,
    layout: unknown,
    isPart: boolean,
  ): Promise<Step> {
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
        if (kind === 'native' && !isPart) this.#giveUpNative(reason);
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

/** Whether it was refused as a whole, perhaps because of some of its samples. */
function isOfSome(outcome: SendOutcome): outcome is SendOutcome & { kind: 'rejected' } {
  return outcome.kind === 'rejected' && OF_SOME_SAMPLES.has(outcome.status) && (outcome.written ?? 0) === 0;
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
