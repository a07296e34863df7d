/** What a schedule may do: ask for a request to be sent. */
export interface Gate {
  /** Now, in nanoseconds since the run's start. */
  now_ns(): number;
  /**
   * Sends the next request of the plan at once. `closed` is called when its answer has ended, with the instant of that and
   * the wait that the server asked for. False when the phase sends no more requests.
   */
  send(due_ns: number, closed: (end_ns: number, retryAfterSeconds: number | null) => void): boolean;
}

/** When requests are due. */
export interface Schedule {
  /** Most requests that are ever under way at a time; null when there is no limit. */
  readonly concurrency: number | null;
  start(gate: Gate): void;
  /** No request will be sent any more. */
  stop(): void;
}
