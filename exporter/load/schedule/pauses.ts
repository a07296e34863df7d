/** Waits for instants of a phase, for actions that may be a millisecond late but must never be early. */
export class Pauses {
  readonly #now_ns: () => number;
  readonly #timers = new Set<NodeJS.Timeout>();

  /** `now_ns`: nanoseconds since the run's start. */
  constructor(now_ns: () => number) {
    this.#now_ns = now_ns;
  }

  /** Calls `over` when the instant has come; never from within this call. */
  until(at_ns: number, over: () => void): void {
    const remaining_ms = Math.ceil(Math.max(at_ns - this.#now_ns(), 0) / 1e6);
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        // A timer may fire early by a fraction of a millisecond, and its delay has a maximum.
        if (this.#now_ns() < at_ns) this.until(at_ns, over);
        else over();
      },
      Math.min(remaining_ms, MAX_DELAY_MS),
    );
    this.#timers.add(timer);
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}

/** Node's timers store their delay in 31 bits. */
const MAX_DELAY_MS = 2 ** 31 - 1;
