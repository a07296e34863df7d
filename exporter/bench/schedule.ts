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
  /** `start_ns`: the instant from which its times count; absent: about now. */
  start(gate: Gate, start_ns?: number): void;
  /**
   * A further turn of a conversation is due, which keeps the slot that it has: `send` is called as soon as the limit of
   * requests in prefill allows, with what is to be called when the turn's first content has come, or its end. Absent: there is
   * no such limit.
   */
  admitTurn?(send: TurnSender): void;
  /** No request will be sent any more. */
  stop(): void;
  /** Requests that were due and had to wait for a slot until the phase sent no more. */
  readonly unsent: number;
}

export type TurnSender = (prefilled: () => void) => void;
