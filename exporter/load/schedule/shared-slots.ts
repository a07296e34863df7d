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
