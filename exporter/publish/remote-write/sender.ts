import type { Backoff } from '../../http-client/backoff.ts';
import type { DiskQueue, QueuedPoints } from './disk-queue.ts';
import { writeRequestV1, writeRequestV2, type SeriesKind } from './encode-request.ts';
import type { Protocol, ProtocolChoice } from './receiver.ts';
import type { RemoteWriteClient, SendOutcome } from './remote-write-client.ts';

/** Approximate maximum of samples per request; one point of a layout is never split. */
const SAMPLES_PER_REQUEST = 10_000;
/**
 * Attempts to send native histograms that end in a server error while numbers are accepted, before native histograms
 * are dropped.
 */
const NATIVE_TRIES = 3;
/** A wait is reported when the receiver has accepted nothing for this long, so that a short overload is not. */
const DELAY_REPORTED_AFTER_MS = 1000;
/** Without a response: large requests take a while. */
const SILENCE_REPORTED_AFTER_MS = 5000;
/** Interval between attempts at a misconfigured receiver, which may be corrected while the run is running. */
const MISCONFIGURED_PAUSE_MS = 10_000;

/**
 * Rejections that may be caused by some of the samples, those that are too old or out of order (Thanos: 409, Prometheus
 * 2: 500).
 */
const OF_SOME_SAMPLES: ReadonlySet<number> = new Set([400, 409, 500]);
/** Rejections that can be about the request as a whole, as long as the receiver has accepted none. */
const OF_REQUEST: ReadonlySet<number> = new Set([400, 409, 422]);
/** Content Too Large, of the receiver or of a proxy before it. */
const TOO_LARGE = 413;
/** How receivers word a rejection that is caused by samples, not by the request. */
const ABOUT_SAMPLES =
  /sample|series|label|metric|histogram|timestamp|out of (order|bounds)|too (old|far)|duplicate|limit/i;
/** Maximum number of splits of one batch before the rest is dropped: if all samples are too old, each is rejected. */
const MAX_DIVISIONS = 64;

export interface SenderStatistics {
  /** Accepted samples. */
  readonly written: number;
  /** Samples that the receiver will never accept. */
  readonly rejected: number;
  /** Samples dropped on the client side. */
  readonly lost: number;
  /** Waiting samples. */
  readonly waiting: number;
  /** Why the receiver does not accept them now; null if it does. */
  readonly trouble: string | null;
}

export interface SenderOptions {
  readonly protocol: ProtocolChoice;
  readonly backoff: Backoff;
  /** Receives one line for each reason of dropped samples, and for unsupported features. */
  readonly problem: (line: string) => void;
}

/** Receives why the receiver accepts nothing, and for how many seconds it will be tried again. */
export type Delayed = (reason: string, seconds: number) => void;

/** `kept`: the samples stay in the queue until the configuration is corrected. */
type Step = 'sent' | 'again' | 'kept';

/** Remaining splits of a batch. */
interface Division {
  left: number;
}

/**
 * Sends the points of one queue in order, one request at a time, as the specifications of remote write 1.0 and 2.0
 * require of senders: temporary failures are retried, permanent rejections are dropped and counted. Samples rejected
 * because of a wrong URL, wrong credentials or a disabled receiver stay in the queue, as do those of which the receiver
 * counts none as written. A receiver such as Prometheus rejects a whole request if one of its samples is too old. A rejected
 * request is never sent again unchanged: its points are split by time into two requests, then four, so that only samples
 * that are rejected on their own are lost; so are those of a request that is too large.
 */
export class Sender {
  readonly #queue: DiskQueue;
  readonly #client: RemoteWriteClient;
  readonly #options: SenderOptions;
  readonly #reported = new Set<string>();
  readonly #stop = new AbortController();
  #protocol: Protocol;
  #settled: boolean;
  #metadataSentFor: unknown = null;
  /** Halved when a request is too large. */
  #samplesPerRequest = SAMPLES_PER_REQUEST;
  #nativeTaken = true;
  #nativeFailures = 0;
  /** Some of the current points were rejected on their own. */
  #numbersDivided = false;
  /** The receiver has accepted samples, so that the URL and the request's form are right. */
  #hasAccepted = false;
  /** The request was sent before, with an unknown outcome. */
  #unanswered = false;
  #written = 0;
  #rejected = 0;
  #trouble: string | null = null;
  /** When the request without a response was sent; null if all have one. */
  #askedAt: number | null = null;
  /** When a misconfigured receiver is retried; null if it is not misconfigured. */
  #triedAgainAt: number | null = null;
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

  /** Starts sending waiting points, unless sending is in progress. */
  wake(): void {
    if (this.#triedAgainAt !== null && performance.now() < this.#triedAgainAt) return;
    this.#working ??= this.#work().finally(() => {
      this.#working = null;
      // Points were added while the last step ended.
      if (!this.#queue.empty && !this.#stop.signal.aborted) this.wake();
    });
  }

  /**
   * Resolves when nothing waits, after this many seconds, or if the receiver is misconfigured. `delayed` is called at most
   * once, if the receiver does not accept samples meanwhile.
   */
  async drained(seconds: number, delayed: Delayed = () => undefined): Promise<void> {
    this.#triedAgainAt = null;
    const deadline = performance.now() + seconds * 1000;
    const watch = setInterval(() => {
      const reason = this.#delay();
      if (reason === null) return;
      clearInterval(watch);
      delayed(reason, Math.max(0, deadline - performance.now()) / 1000);
    }, DELAY_REPORTED_AFTER_MS);
    try {
      await this.#drainedBy(deadline);
    } finally {
      clearInterval(watch);
    }
  }

  async #drainedBy(deadline: number): Promise<void> {
    while (!this.#queue.empty && performance.now() < deadline && !this.#stop.signal.aborted) {
      this.wake();
      const done = new AbortController();
      const late = pause((deadline - performance.now()) / 1000, AbortSignal.any([done.signal, this.#stop.signal]));
      await Promise.race([this.#working, late]);
      done.abort();
      if (this.#triedAgainAt !== null) return;
    }
  }

  /** Why nothing is accepted at the moment; null if samples are accepted, or may soon be. */
  #delay(): string | null {
    if (this.#trouble !== null) return this.#trouble;
    const silent_ms = this.#askedAt === null ? 0 : performance.now() - this.#askedAt;
    return silent_ms >= SILENCE_REPORTED_AFTER_MS ? `no response for ${Math.floor(silent_ms / 1000)} s` : null;
  }

  /** Stops at once; unacknowledged points stay in the queue. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#working;
  }

  async #work(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const queued = this.#queue.next(this.#samplesPerRequest);
      if (queued === null) return;
      this.#numbersDivided = false;
      const numbers = await this.#send(queued, 'numbers');
      if (numbers === 'kept') return;
      if (numbers === 'again') continue;
      const native = await this.#untilDone(() => this.#send(queued, 'native'));
      if (native === 'kept' || this.#stop.signal.aborted) return;
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
    const message = this.#message(queued, kind);
    this.#askedAt = performance.now();
    const response = await this.#client.send(message, this.#protocol, this.#stop.signal);
    this.#askedAt = null;
    const outcome = isContradiction(response, samples) ? { ...response, written: 0 } : response;
    if (this.#isOfRequest(outcome, kind)) {
      return this.#keep(
        `${outcome.reason}; the receiver has accepted no request yet: check --remote-write-url and --remote-write-header`,
      );
    }
    const divided = division ?? { left: MAX_DIVISIONS };
    if (outcome.kind === 'rejected' && outcome.status === TOO_LARGE) {
      if (points.length > 1) {
        this.#samplesPerRequest = Math.min(this.#samplesPerRequest, Math.ceil(samples / 2));
        return this.#sendHalves(queued, kind, divided);
      }
      if (kind === 'numbers' && outcome.written === null) {
        return this.#keep(
          `${outcome.reason}; raise the largest request size of the receiver, or of the proxy before it`,
        );
      }
    }
    // Native histograms are rejected as such; an earlier attempt without response may have been accepted.
    const mayBeOfSome = (kind === 'numbers' || this.#numbersDivided) && !this.#unanswered;
    if (isOfSome(outcome) && mayBeOfSome && points.length > 1 && divided.left > 0) {
      this.#numbersDivided = true;
      divided.left -= 1;
      this.#accepted();
      return this.#sendHalves(queued, kind, divided);
    }
    return this.#take(outcome, kind, samples, layout, division !== null);
  }

  /** Whether a rejection is rather about the request than about its samples: a wrong path, a proxy, a missing header. */
  #isOfRequest(outcome: SendOutcome, kind: SeriesKind): outcome is SendOutcome & { kind: 'rejected' } {
    if (outcome.kind !== 'rejected' || !OF_REQUEST.has(outcome.status) || outcome.written !== null) return false;
    return kind === 'numbers' && !this.#hasAccepted && !ABOUT_SAMPLES.test(outcome.reason);
  }

  /** The earlier half first: receivers accept samples in order. */
  async #sendHalves(queued: QueuedPoints, kind: SeriesKind, division: Division): Promise<Step> {
    const middle = Math.ceil(queued.points.length / 2);
    for (const points of [queued.points.slice(0, middle), queued.points.slice(middle)]) {
      const half = { ...queued, points };
      if ((await this.#untilDone(() => this.#send(half, kind, division))) === 'kept') return 'kept';
    }
    return 'sent';
  }

  async #untilDone(send: () => Promise<Step>): Promise<Step> {
    let step: Step = 'again';
    while (step === 'again' && !this.#stop.signal.aborted) step = await send();
    return step;
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
        if (outcome.written === 0 && kind === 'numbers') {
          return this.#keep(`the receiver reports success and 0 of ${samples} samples written: check what it drops`);
        }
        this.#accepted();
        this.#hasAccepted = true;
        if (kind === 'numbers') this.#metadataSentFor = layout;
        this.#written += outcome.written ?? samples;
        this.#drop(samples - (outcome.written ?? samples), 'the receiver counts fewer samples than were sent', kind);
        return 'sent';
      case 'rejected': {
        const reason = this.#unanswered
          ? `${outcome.reason} (an earlier attempt may have been accepted)`
          : outcome.reason;
        this.#accepted();
        if (kind === 'native' && !isPart) this.#giveUpNative(reason);
        this.#written += outcome.written ?? 0;
        this.#drop(samples - (outcome.written ?? 0), reason, kind);
        return 'sent';
      }
      case 'unsupported':
        return this.#unsupported(outcome.reason, kind, samples);
      case 'misconfigured':
        return this.#keep(outcome.reason);
      case 'retry':
        return this.#wait(outcome, kind);
    }
  }

  /** The receiver works. */
  #accepted(): void {
    this.#settled = true;
    this.#trouble = null;
    this.#triedAgainAt = null;
    this.#unanswered = false;
    this.#nativeFailures = 0;
    this.#options.backoff.reset();
  }

  #unsupported(reason: string, kind: SeriesKind, samples: number): Step {
    if (!this.#settled && this.#protocol === '2') {
      this.#protocol = '1';
      return 'again';
    }
    if (kind === 'numbers') return this.#keep(`${reason}; the receiver does not support this --remote-write-protocol`);
    this.#trouble = null;
    this.#giveUpNative(reason);
    this.#drop(samples, reason, kind);
    return 'sent';
  }

  #keep(reason: string): Step {
    this.#trouble = reason;
    this.#triedAgainAt = performance.now() + MISCONFIGURED_PAUSE_MS;
    this.#report(`samples are kept until this is corrected: ${reason}`);
    return 'kept';
  }

  async #wait(outcome: SendOutcome & { kind: 'retry' }, kind: SeriesKind): Promise<Step> {
    if (this.#stop.signal.aborted) return 'again';
    // Prometheus before version 3 responds with 500 if native histograms are not enabled.
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
    this.#report(`the receiver does not accept native histograms, they are left out: ${reason}`);
  }

  #drop(samples: number, reason: string, kind: SeriesKind): void {
    if (samples <= 0) return;
    this.#rejected += samples;
    // Of native histograms the classic ones have arrived.
    if (kind === 'numbers') this.#queue.noteDropped(samples);
    this.#report(`samples were rejected and dropped: ${reason}`);
  }

  #report(line: string): void {
    if (this.#reported.has(line)) return;
    this.#reported.add(line);
    this.#options.problem(line);
  }
}

/** Whether a rejection counts every sample as written: Mimir counts what it received, before it stores it. */
function isContradiction(outcome: SendOutcome, samples: number): outcome is SendOutcome & { kind: 'rejected' } {
  return outcome.kind === 'rejected' && (outcome.written ?? 0) >= samples;
}

/** Whether the whole request was rejected, possibly because of some samples. */
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
