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
