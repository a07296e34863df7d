const SECOND_MS = 1000;

/**
 * The difference between a server's clock and that of this machine, from the `Date` headers of its responses
 * (https://www.rfc-editor.org/rfc/rfc9110#section-6.6.1), which are cut to whole seconds: each response bounds it, and
 * responses at different fractions of a second narrow the bounds.
 */
export class ServerClock {
  #least_ms = -Infinity;
  #most_ms = Infinity;

  /** `sent_ms` and `received_ms`: when the request was sent and the head of its response received, by this machine. */
  observe(sent_ms: number, received_ms: number, date_ms: number): void {
    this.#least_ms = Math.max(this.#least_ms, date_ms - received_ms);
    this.#most_ms = Math.min(this.#most_ms, date_ms + SECOND_MS - sent_ms);
  }

  /**
   * What has to be added to this machine's clock: the smallest correction that the responses allow, so that clocks that
   * agree within the bounds stay as they are. 0 without a response.
   */
  get correction_ms(): number {
    // Servers behind one address may have clocks that differ: then the bounds cross.
    const low = Math.min(this.#least_ms, this.#most_ms);
    const high = Math.max(this.#least_ms, this.#most_ms);
    return low > 0 ? low : high < 0 ? high : 0;
  }
}
