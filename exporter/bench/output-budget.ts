/**
 * Output tokens that a run may ask for. A request under way counts with all that it may generate, one that has ended
 * with what it did generate (all of it when the server did not tell), so that the limit is never passed.
 */
export class OutputBudget {
  readonly limit: number;
  #committed = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Sets aside the tokens of one more request; false, and nothing is set aside, when that could pass the limit. */
  reserve(tokens: number): boolean {
    if (this.#committed + tokens > this.limit) return false;
    this.#committed += tokens;
    return true;
  }

  /** A request has ended; `generated` is null when its tokens are not known. */
  settle(reserved: number, generated: number | null): void {
    if (generated !== null) this.#committed += generated - reserved;
  }
}
