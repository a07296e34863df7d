import { monotonicNow_ns } from '../../clock/monotonic-clock.ts';
import { Roster } from '../transports/roster.ts';
import type { TransportFailure } from '../transports/transport.ts';

export interface TimeLimits {
  /** From the request to the end of its response. */
  readonly requestTimeoutSeconds: number;
  /** Without a byte of the response; 0: no limit. */
  readonly idleTimeoutSeconds: number;
}

/** AIPerf's `--request-timeout-seconds`. */
export const DEFAULT_REQUEST_TIMEOUT_SECONDS = 21_600;

export interface TimedRequest {
  readonly sentAt_ns: number;
  readonly lastByteAt_ns: number;
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
    const { requestTimeoutSeconds, idleTimeoutSeconds } = limits;
    const shortest =
      idleTimeoutSeconds > 0 ? Math.min(requestTimeoutSeconds, idleTimeoutSeconds) : requestTimeoutSeconds;
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
    const { requestTimeoutSeconds, idleTimeoutSeconds } = this.#limits;
    const now_ns = monotonicNow_ns();
    const sinceLast_ns = now_ns - this.#lastCheck_ns;
    this.#lastCheck_ns = now_ns;
    // After the loop was blocked, bytes that arrived meanwhile are still unread: decide at the next check.
    this.#putOff = !this.#putOff && sinceLast_ns > 3e6 * this.#period_ms;
    if (this.#putOff) return;
    this.#requests.forEach((request) => {
      if (now_ns - request.sentAt_ns > requestTimeoutSeconds * 1e9) {
        const message = `the response did not end within ${requestTimeoutSeconds} s`;
        request.giveUp({ reason: 'request_timeout', message });
      } else if (idleTimeoutSeconds > 0 && now_ns - request.lastByteAt_ns > idleTimeoutSeconds * 1e9) {
        request.giveUp({ reason: 'idle_timeout', message: `no byte of the response for ${idleTimeoutSeconds} s` });
      }
    });
  }
}
