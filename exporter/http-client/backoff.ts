export interface BackoffLimits {
  /** The first wait, before the jitter. */
  readonly min_seconds: number;
  readonly max_seconds: number;
}

/** As in Prometheus: `min_backoff` and `max_backoff` of its `queue_config`. */
const OF_PROMETHEUS: BackoffLimits = { min_seconds: 0.03, max_seconds: 5 };

/** Exponential backoff with jitter over the upper half of each wait, and at least the receiver's Retry-After. */
export class Backoff {
  readonly #random: () => number;
  readonly #limits: BackoffLimits;
  #next_seconds: number;

  /** `random` returns numbers in [0, 1). */
  constructor(random: () => number = Math.random, limits = OF_PROMETHEUS) {
    this.#random = random;
    this.#limits = limits;
    this.#next_seconds = limits.min_seconds;
  }

  /** Seconds; never shorter than `afterSeconds`. */
  next(afterSeconds: number | null): number {
    const wait = this.#next_seconds * (0.5 + this.#random() / 2);
    this.#next_seconds = Math.min(this.#limits.max_seconds, this.#next_seconds * 2);
    return Math.max(wait, afterSeconds ?? 0);
  }

  reset(): void {
    this.#next_seconds = this.#limits.min_seconds;
  }
}

/** Upper limit of the wait that a server can request. */
export const MAX_RETRY_AFTER_SECONDS = 60;

/**
 * The wait requested by a `Retry-After` header (RFC 9110 §10.2.3: seconds or an HTTP date), at most a minute; null if
 * missing or invalid.
 */
export function retryAfterSeconds(header: string | undefined, now: Date): number | null {
  const seconds = requestedSeconds(header, now);
  return seconds === null ? null : Math.min(Math.max(seconds, 0), MAX_RETRY_AFTER_SECONDS);
}

/** One phrase if the server requests a longer wait than is granted, else null. */
export function longRetryAfter(header: string | undefined, now: Date): string | null {
  const seconds = requestedSeconds(header, now);
  if (seconds === null || seconds <= MAX_RETRY_AFTER_SECONDS) return null;
  return `Retry-After requests ${Math.round(seconds)} s, of which ${MAX_RETRY_AFTER_SECONDS} s are waited`;
}

function requestedSeconds(header: string | undefined, now: Date): number | null {
  const value = header?.trim() ?? '';
  const seconds = /^\d+$/.test(value)
    ? Number(value)
    : /^[A-Z][a-z]+,? /.test(value)
      ? (Date.parse(value) - now.getTime()) / 1000
      : NaN;
  return Number.isNaN(seconds) ? null : seconds;
}
