/** Called when an answer has ended, with the instant of that and the wait that the server asked for (`Retry-After`). */
export type RequestClosed = (end_ns: number, retryAfterSeconds: number | null) => void;

/** What a schedule may do: ask for a request to be sent. */
export interface Gate {
  /** Now, in nanoseconds since the run's start. */
  now_ns(): number;
  /**
   * Sends the next request of the plan at once. `firstContent` is called when its first chunk with content has come, if
   * one does. Neither callback is called from within. False when the phase sends no more requests.
   */
  send(due_ns: number, closed: RequestClosed, firstContent?: () => void): boolean;
}

/** When requests are due. */
export interface Schedule {
  start(gate: Gate): void;
  /** No request will be sent any more. */
  stop(): void;
  /** Requests that were due and had to wait for a slot until the phase sent no more. */
  readonly unsent: number;
}
