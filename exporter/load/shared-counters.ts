import type { LoadPhase } from '../../core/run/record.ts';
import { EARLY_END_CELLS } from './phases/early-end.ts';

/** Counters shared by all generators of one load, in memory that threads can share. */
export interface LoadMemory {
  /** Requests of each phase that were taken: `DEALT` has the cells. */
  readonly dealt: Int32Array;
  /** For the current phase. */
  readonly earlyEnd: Int32Array;
  /** For the current phase, if a cool-down follows it. */
  readonly measuring: Int32Array;
  /** Slots in use of a load in stages: one number. */
  readonly slots: Int32Array;
  /** Output tokens of the run. */
  readonly committed: BigInt64Array;
}

export const DEALT: Readonly<Record<LoadPhase, number>> = { warmup: 0, measure: 1 };

export function newLoadMemory(): LoadMemory {
  const words = (count: number): Int32Array => new Int32Array(new SharedArrayBuffer(4 * count));
  return {
    dealt: words(Object.keys(DEALT).length),
    earlyEnd: words(EARLY_END_CELLS),
    measuring: words(1),
    slots: words(1),
    committed: new BigInt64Array(new SharedArrayBuffer(8)),
  };
}

/**
 * Whether requests of a phase are in flight or may still be sent, over all threads that send them: as long as that is
 * so, its cool-down lasts. Threads may share its memory.
 */
export class Measuring {
  readonly #cells: Int32Array;

  /** `cells`: one number, of threads that may send requests and of requests in flight. */
  constructor(cells: Int32Array = new Int32Array(1)) {
    this.#cells = cells;
  }

  /** Call before a phase begins: so many threads will send its requests. */
  begin(threads: number): void {
    Atomics.store(this.#cells, 0, threads);
  }

  requestSent(): void {
    Atomics.add(this.#cells, 0, 1);
  }

  requestEnded(): void {
    Atomics.sub(this.#cells, 0, 1);
  }

  /** This thread sends no more requests of the phase. Call it once. */
  threadCompleted(): void {
    Atomics.sub(this.#cells, 0, 1);
  }

  get isOver(): boolean {
    return Atomics.load(this.#cells, 0) <= 0;
  }
}

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

/** Slots of requests in flight that several threads share: a number in their common memory. */
export class SharedSlots {
  readonly #cells: Int32Array;

  constructor(cells: Int32Array = new Int32Array(1)) {
    this.#cells = cells;
  }

  /** Takes a slot when fewer than `limit` are in use; false when not. */
  claim(limit: number): boolean {
    for (;;) {
      const used = Atomics.load(this.#cells, 0);
      if (used >= limit) return false;
      if (Atomics.compareExchange(this.#cells, 0, used, used + 1) === used) return true;
    }
  }

  /** Takes a slot, however many are in use. */
  take(): void {
    Atomics.add(this.#cells, 0, 1);
  }

  release(): void {
    Atomics.sub(this.#cells, 0, 1);
  }
}
