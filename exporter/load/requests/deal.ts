import type { Share } from '../workers/share.ts';

/** Assigns the numbers of a phase's requests (or conversations) to their senders: each number once. */
export interface Deal {
  /** The next number. */
  next(): number;
  /** The next number, as far as it is known without taking it: never more than `next` returns. */
  peek(): number;
  /**
   * This many numbers at the end are taken only when they can be sent immediately, so that no sender holds a request
   * that another could send.
   */
  readonly onDemand: number;
}

/** The numbers of a share, in order: for requests with due times. */
export class FixedDeal implements Deal {
  readonly onDemand = 0;
  readonly #parts: number;
  #next: number;

  constructor({ part, parts }: Share) {
    this.#next = part;
    this.#parts = parts;
  }

  next(): number {
    const next = this.#next;
    this.#next += this.#parts;
    return next;
  }

  peek(): number {
    return this.#next;
  }
}

/**
 * Any sender with a free slot takes the next number of the share: for closed loops. `dealt[cell]` counts the numbers
 * taken, in memory that several workers share.
 */
export class SharedDeal implements Deal {
  readonly onDemand: number;
  readonly #share: Share;
  readonly #dealt: Int32Array;
  readonly #cell: number;

  constructor(share: Share, dealt: Int32Array, cell: number, onDemand: number) {
    this.#share = share;
    this.#dealt = dealt;
    this.#cell = cell;
    this.onDemand = onDemand;
  }

  next(): number {
    return this.#number(Atomics.add(this.#dealt, this.#cell, 1));
  }

  peek(): number {
    return this.#number(Atomics.load(this.#dealt, this.#cell));
  }

  #number(taken: number): number {
    return this.#share.part + this.#share.parts * taken;
  }
}
