/**
 * Output tokens that a run may ask for. A request under way counts with all that it may generate, one that has ended
 * with what it did generate (all of it when the server did not tell), so that the limit is never passed. Its memory may be
 * shared between threads, which then have one budget together.
 */
export class OutputBudget {
  readonly limit: number;
  readonly #committed: BigInt64Array;

  constructor(limit: number, committed: BigInt64Array = new BigInt64Array(1)) {
    this.limit = limit;
    this.#committed = committed;
  }

  /** Sets aside the tokens of one more request; false, and nothing is set aside, when that could pass the limit. */
  reserve(tokens: number): boolean {
    for (;;) {
      const before = Atomics.load(this.#committed, 0);
      const after = before + BigInt(tokens);
      if (after > BigInt(this.limit)) return false;
      if (Atomics.compareExchange(this.#committed, 0, before, after) === before) return true;
    }
  }

  /** A request has ended; `generated` is null when its tokens are not known. */
  settle(reserved: number, generated: number | null): void {
    if (generated !== null) Atomics.add(this.#committed, 0, BigInt(generated - reserved));
  }
}
