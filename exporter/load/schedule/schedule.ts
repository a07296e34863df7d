/** Called when a response has ended, with that instant and the wait that the server requested (`Retry-After`). */
export type RequestClosed = (end_ns: number, retryAfterSeconds: number | null) => void;

/** What a schedule may do: have a request sent. */
export interface Gate {
  /** Now, in nanoseconds since the run's start. */
  now_ns(): number;
  /**
   * Sends the next request of the plan immediately. `firstContent` is called when its first chunk with content arrives,
   * if one does. Neither callback is called from within. False when the phase sends no more requests.
   */
  send(due_ns: number, closed: RequestClosed, firstContent?: () => void): boolean;
  /** The schedule is over: no request follows, and those in flight get the grace period of the phase. */
  finish(): void;
}

/** When requests are due. */
export interface Schedule {
  /** `start_ns`: the start of its clock; absent: about now. */
  start(gate: Gate, start_ns?: number): void;
  /**
   * A further turn of a conversation is due, which keeps its slot: `send` is called as soon as the limit of requests in
   * prefill allows, with the callback for the turn's first content, or its end. Absent: there is no such limit.
   */
  admitTurn?(send: TurnSender): void;
  /** Number, from 1, of the stage in which a request is due; absent: the load has no stages. */
  stageOf?(due_ns: number): number;
  /** No further request will be sent. */
  stop(): void;
  /** Number of requests that were due and got no slot before the phase stopped sending. */
  readonly unsent: number;
}

export type TurnSender = (prefilled: () => void) => void;

/** Signals when instants have come. Times are nanoseconds since the start of the run. */
export interface WakeClock {
  /**
   * Calls `ring` for each of the ascending instants in order: as soon as possible after it, never before. May be called
   * once.
   */
  start(instants_ns: Iterator<number>, ring: (due_ns: number) => void): void;
  /** `ring` is not called any more. */
  stop(): void;
}

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
export const MAX_DELAY_MS = 2 ** 31 - 1;
