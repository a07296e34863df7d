/**
 * A set of short-lived members with high turnover. A `Set` would do but for V8: when a long-lived one has no more room,
 * its next table and all later ones are allocated among the old objects, and everything that a discarded table still
 * references is kept until the next full collection (measured: a quarter of the memory that a request needed).
 */
export class Roster<T extends object> {
  readonly #present: (T | undefined)[] = [];
  readonly #free: number[] = [];

  /** Returns the index that it has until it is removed. */
  add(item: T): number {
    const place = this.#free.pop() ?? this.#present.length;
    this.#present[place] = item;
    return place;
  }

  /** Has no effect when it was already removed. */
  remove(item: T, place: number): void {
    if (this.#present[place] !== item) return;
    this.#present[place] = undefined;
    this.#free.push(place);
  }

  get size(): number {
    return this.#present.length - this.#free.length;
  }

  /** Iterates over the current members; a member may be removed meanwhile. */
  forEach(visit: (item: T) => void): void {
    for (const item of this.#present) if (item !== undefined) visit(item);
  }
}
