/**
 * Limit of the output tokens that a run may generate. A request in flight counts with its maximum, a completed one with
 * what it generated (its maximum when the server reported no count), so that the limit is never exceeded. Threads may
 * share its memory and thereby one budget.
 */
export class OutputBudget {
  readonly limit: number;
  readonly #committed: BigInt64Array;

  constructor(limit: number, committed: BigInt64Array = new BigInt64Array(1)) {
    this.limit = limit;
    this.#committed = committed;
  }

  /** Reserves the tokens of one more request; false, without a reservation, when that could exceed the limit. */
  reserve(tokens: number): boolean {
    for (;;) {
      const before = Atomics.load(this.#committed, 0);
      const after = before + BigInt(tokens);
      if (after > BigInt(this.limit)) return false;
      if (Atomics.compareExchange(this.#committed, 0, before, after) === before) return true;
    }
  }

  /** A request has ended; `generated` is null when its token count is not known. */
  settle(reserved: number, generated: number | null): void {
    if (generated !== null) Atomics.add(this.#committed, 0, BigInt(generated - reserved));
  }
}
