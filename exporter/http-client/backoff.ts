/** As in Prometheus: `min_backoff` and `max_backoff` of its `queue_config`. */
const MIN_SECONDS = 0.03;
const MAX_SECONDS = 5;

/** Exponential backoff with jitter over the upper half of each wait, and at least the receiver's Retry-After. */
export class Backoff {
  readonly #random: () => number;
  #next_seconds = MIN_SECONDS;

  /** `random` returns numbers in [0, 1). */
  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** Seconds; never shorter than `afterSeconds`. */
  next(afterSeconds: number | null): number {
    const wait = this.#next_seconds * (0.5 + this.#random() / 2);
    this.#next_seconds = Math.min(MAX_SECONDS, this.#next_seconds * 2);
    return Math.max(wait, afterSeconds ?? 0);
  }

  reset(): void {
    this.#next_seconds = MIN_SECONDS;
  }
}
