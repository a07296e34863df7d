/** How a run is ended early: a user's Ctrl-C once drains it, twice aborts it; a caller that knows enough concludes it. */
export class RunControls {
  readonly #drain = new AbortController();
  readonly #abort = new AbortController();
  readonly #giveUp = new AbortController();
  #concluded = false;

  /** No new request is sent; those in flight are read to their end. */
  drain(): void {
    this.#drain.abort();
  }

  /** Requests in flight are aborted as well. */
  abort(): void {
    this.#giveUp.abort();
    this.#cancel();
  }

  /** Ends the run as complete: more requests would not change what it is for. Those in flight may be cancelled. */
  conclude(cancelInFlight: boolean): void {
    if (this.#drain.signal.aborted) return;
    this.#concluded = true;
    if (cancelInFlight) this.#cancel();
    else this.drain();
  }

  /** Whether a user ended the run. */
  get interrupted(): boolean {
    return this.draining.aborted && !this.#concluded;
  }

  /** Aborted when a user waits for nothing any more, not when a run is concluded. */
  get givenUp(): AbortSignal {
    return this.#giveUp.signal;
  }

  get draining(): AbortSignal {
    return this.#drain.signal;
  }

  get aborting(): AbortSignal {
    return this.#abort.signal;
  }

  #cancel(): void {
    this.#drain.abort();
    this.#abort.abort();
  }
}
