import type { Engine } from '../engine/engine.ts';
import type { EngineState, EngineEvent, EngineRequest, FinishedEvent, TokenEvent } from '../engine/events.ts';

/** CLOCK_MONOTONIC, counted from an origin, so that a time is a small integer of nanoseconds. */
export class MonotonicClock {
  /** The origin on CLOCK_MONOTONIC, in nanoseconds; the same clock in every process of the machine. */
  readonly origin_ns = process.hrtime.bigint();

  now_ns(): number {
    return Number(process.hrtime.bigint() - this.origin_ns);
  }

  /** A time of this clock as CLOCK_MONOTONIC: a safe integer until the machine has been up for 104 days. */
  absolute_ns(time_ns: number): number {
    return Number(this.origin_ns + BigInt(time_ns));
  }
}

/** Where the tokens of one request go. */
export interface Reply {
  token(event: TokenEvent): void;
  finished(event: FinishedEvent): void;
  /** Called once after the tokens that are due together; does nothing when the client has gone. */
  flush(): void;
  /** What computed the response is gone: nothing more comes. Only backends of several engines lose one. */
  failed(): void;
}

/** What computes the responses to requests: one engine, or several behind a router. */
export interface RequestBackend {
  /** When a request that is submitted now arrives. */
  nextArrival_ns(): number;
  submit(request: EngineRequest, reply: Reply): void;
  /** Takes a request out whose client has gone. */
  abort(id: string): void;
  /** The state at this moment. */
  state(): EngineState;
  /** Empties the prefix cache; false while requests have blocks of it. Absent: it cannot be emptied from outside. */
  resetPrefixCache?(): boolean;
  close(): void;
}

const NANOSECONDS_PER_MILLISECOND = 1e6;

/**
 * Lets an engine run by the real clock, with a single timer however many requests there are. A timer of Node may fire
 * early and late: only the clock decides what is due.
 */
export class EngineDriver implements RequestBackend {
  readonly #engine: Engine;
  readonly #clock: MonotonicClock;
  readonly #observe: (events: readonly EngineEvent[]) => void;
  readonly #replies = new Map<string, Reply>();
  #timer: NodeJS.Timeout | null = null;
  #timerFor_ns: number | null = null;
  #closed = false;

  /** @param observe is shown all events, before their tokens are written */
  constructor(engine: Engine, clock: MonotonicClock, observe: (events: readonly EngineEvent[]) => void) {
    this.#engine = engine;
    this.#clock = clock;
    this.#observe = observe;
  }

  /** When a request that is submitted now arrives in the engine. */
  nextArrival_ns(): number {
    return Math.max(this.#clock.now_ns(), this.#engine.now_ns + 1);
  }

  submit(request: EngineRequest, reply: Reply): void {
    this.#engine.submit(request);
    this.#replies.set(request.id, reply);
    this.pump();
  }

  /** Takes a request out whose client has gone. Tokens that were due before still count as generated. */
  abort(id: string): void {
    this.#engine.abort(id, this.nextArrival_ns());
    this.pump();
    this.#replies.delete(id);
  }

  /** Lets happen what is due, and hands out the tokens. */
  pump(): void {
    const events = this.#engine.advanceTo(Math.max(this.#clock.now_ns(), this.#engine.now_ns));
    this.#observe(events);
    const touched = new Set<Reply>();
    for (const event of events) {
      if (event.kind !== 'token' && event.kind !== 'finished') continue;
      const reply = this.#replies.get(event.request.id);
      if (reply === undefined) continue;
      touched.add(reply);
      if (event.kind === 'token') {
        reply.token(event);
      } else {
        reply.finished(event);
        this.#replies.delete(event.request.id);
      }
    }
    for (const reply of touched) reply.flush();
    this.#setTimer();
  }

  /** The state at this moment. */
  state(): EngineState {
    this.pump();
    return this.#engine.state;
  }

  resetPrefixCache(): boolean {
    this.pump();
    return this.#engine.resetPrefixCache();
  }

  close(): void {
    this.#closed = true;
    this.#clearTimer();
  }

  #clearTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#timerFor_ns = null;
  }

  #setTimer(): void {
    const next_ns = this.#engine.nextEventTime();
    if (next_ns === this.#timerFor_ns) return;
    this.#clearTimer();
    // A client that is thrown out as the server ends is still to be taken out of the engine.
    if (next_ns === null || this.#closed) return;
    const delay = Math.max(1, Math.ceil((next_ns - this.#clock.now_ns()) / NANOSECONDS_PER_MILLISECOND));
    this.#timerFor_ns = next_ns;
    this.#timer = setTimeout(() => {
      this.#timerFor_ns = null;
      this.pump();
    }, delay);
  }
}
