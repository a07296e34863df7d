/**
 * Who is present at the moment, where many come and go. A `Set` would do but for V8: when a long-lived one has no more
 * room, its next table and all after it are made among the old objects, and whatever a discarded table still names is
 * kept until the next full collection (measured: a quarter of everything that a request needed).
 */
export class Roster<T extends object> {
  readonly #present: (T | undefined)[] = [];
  readonly #free: number[] = [];

  /** Returns the place that it has until it is removed. */
  add(item: T): number {
    const place = this.#free.pop() ?? this.#present.length;
    this.#present[place] = item;
    return place;
  }

  /** Does nothing when it is no longer there. */
  remove(item: T, place: number): void {
    if (this.#present[place] !== item) return;
    this.#present[place] = undefined;
    this.#free.push(place);
  }

  get size(): number {
    return this.#present.length - this.#free.length;
  }

  /** Everyone who is there when their turn comes; one may leave meanwhile. */
  forEach(visit: (item: T) => void): void {
    for (const item of this.#present) if (item !== undefined) visit(item);
  }
}
