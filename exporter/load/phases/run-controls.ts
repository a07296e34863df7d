/** How a user ends a run early: Ctrl-C once drains it, twice aborts it. */
export class RunControls {
  readonly #drain = new AbortController();
  readonly #abort = new AbortController();

  /** No new request is sent; those in flight are read to their end. */
  drain(): void {
    this.#drain.abort();
  }

  /** Requests in flight are aborted as well. */
  abort(): void {
    this.#drain.abort();
    this.#abort.abort();
  }

  get draining(): AbortSignal {
    return this.#drain.signal;
  }

  get aborting(): AbortSignal {
    return this.#abort.signal;
  }
}
