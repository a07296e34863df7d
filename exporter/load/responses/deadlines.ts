import { monotonicNow_ns } from '../../clock/monotonic-clock.ts';
import { Roster } from '../transports/roster.ts';
import type { TransportFailure } from '../transports/transport.ts';

export interface TimeLimits {
  /** From the request to the end of its response. */
  readonly requestTimeoutSeconds: number;
  /** From the request to the first chunk with content of a stream; 0: no limit. */
  readonly firstTokenTimeoutSeconds: number;
  /** Without a further byte of a response that has begun; 0: no limit. */
  readonly idleTimeoutSeconds: number;
}

/** AIPerf's `--request-timeout-seconds`. */
export const DEFAULT_REQUEST_TIMEOUT_SECONDS = 21_600;
/** Longer than a request waits in the queue of an overloaded server that still makes progress. */
export const DEFAULT_FIRST_TOKEN_TIMEOUT_SECONDS = 600;
/** Longer than a preempted request is interrupted. */
export const DEFAULT_IDLE_TIMEOUT_SECONDS = 300;

export interface TimedRequest {
  readonly sentAt_ns: number;
  /** Equals `sentAt_ns` until the first byte. */
  readonly lastByteAt_ns: number;
  /** A stream whose first chunk with content has not been recognized. */
  readonly awaitsFirstToken: boolean;
  /** A second call has no effect. */
  giveUp(failure: TransportFailure): void;
}

const FINEST_MS = 5;
const COARSEST_MS = 250;

/** Aborts requests that take too long. One timer checks all of them, so a chunk costs nothing. */
export class Deadlines {
  readonly #limits: TimeLimits;
  readonly #requests = new Roster<TimedRequest>();
  readonly #timer: NodeJS.Timeout;
  readonly #period_ms: number;
  #lastCheck_ns = monotonicNow_ns();
  #putOff = false;

  constructor(limits: TimeLimits) {
    this.#limits = limits;
    const { requestTimeoutSeconds, firstTokenTimeoutSeconds, idleTimeoutSeconds } = limits;
    const shortest = Math.min(
      ...[requestTimeoutSeconds, firstTokenTimeoutSeconds, idleTimeoutSeconds].filter((limit) => limit > 0),
    );
    this.#period_ms = Math.min(Math.max(shortest * 50, FINEST_MS), COARSEST_MS);
    this.#timer = setInterval(() => this.#check(), this.#period_ms);
    this.#timer.unref();
  }

  /** Returns the index that `unwatch` requires. */
  watch(request: TimedRequest): number {
    return this.#requests.add(request);
  }

  unwatch(request: TimedRequest, place: number): void {
    this.#requests.remove(request, place);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const now_ns = monotonicNow_ns();
    const sinceLast_ns = now_ns - this.#lastCheck_ns;
    this.#lastCheck_ns = now_ns;
    // After the loop was blocked, bytes that arrived meanwhile are still unread: decide at the next check.
    this.#putOff = !this.#putOff && sinceLast_ns > 3e6 * this.#period_ms;
    if (this.#putOff) return;
    this.#requests.forEach((request) => {
      const failure = this.#exceeded(request, now_ns);
      if (failure !== null) request.giveUp(failure);
    });
  }

  #exceeded({ sentAt_ns, lastByteAt_ns, awaitsFirstToken }: TimedRequest, now_ns: number): TransportFailure | null {
    const { requestTimeoutSeconds, firstTokenTimeoutSeconds, idleTimeoutSeconds } = this.#limits;
    const isOver = (since_ns: number, limitSeconds: number): boolean =>
      limitSeconds > 0 && now_ns - since_ns > limitSeconds * 1e9;
    if (isOver(sentAt_ns, requestTimeoutSeconds)) {
      return { reason: 'request_timeout', message: `the response did not end within ${requestTimeoutSeconds} s` };
    }
    if (awaitsFirstToken && isOver(sentAt_ns, firstTokenTimeoutSeconds)) {
      return { reason: 'first_token_timeout', message: `no content within ${firstTokenTimeoutSeconds} s` };
    }
    if (lastByteAt_ns > sentAt_ns && isOver(lastByteAt_ns, idleTimeoutSeconds)) {
      return { reason: 'idle_timeout', message: `no byte of the response for ${idleTimeoutSeconds} s` };
    }
    return null;
  }
}
