interface Entry<T> {
  readonly time_ns: number;
  readonly sequence: number;
  readonly item: T;
}

function before<T>(a: Entry<T>, b: Entry<T>): boolean {
  return a.time_ns < b.time_ns || (a.time_ns === b.time_ns && a.sequence < b.sequence);
}

/** Things that happen at a known time, in order of time and then of insertion. A binary heap. */
export class Inbox<T> {
  readonly #heap: Entry<T>[] = [];
  #inserted = 0;

  /** Time of the next thing, Infinity when there is none. */
  nextTime(): number {
    return this.#heap[0]?.time_ns ?? Infinity;
  }

  push(time_ns: number, item: T): void {
    const heap = this.#heap;
    const entry: Entry<T> = { time_ns, sequence: this.#inserted++, item };
    let hole = heap.length;
    while (hole > 0) {
      const parentIndex = (hole - 1) >> 1;
      const parent = heap[parentIndex];
      if (parent === undefined || before(parent, entry)) break;
      heap[hole] = parent;
      hole = parentIndex;
    }
    heap[hole] = entry;
  }

  /** Takes the next thing out if its time is `time_ns` or earlier. */
  popUntil(time_ns: number): T | undefined {
    const heap = this.#heap;
    const first = heap[0];
    if (first === undefined || first.time_ns > time_ns) return undefined;
    const last = heap.pop();
    if (last !== undefined && last !== first) this.#sink(last);
    return first.item;
  }

  #sink(entry: Entry<T>): void {
    const heap = this.#heap;
    let hole = 0;
    for (;;) {
      let childIndex = 2 * hole + 1;
      let child = heap[childIndex];
      const right = heap[childIndex + 1];
      if (child !== undefined && right !== undefined && before(right, child)) {
        child = right;
        childIndex++;
      }
      if (child === undefined || before(entry, child)) break;
      heap[hole] = child;
      hole = childIndex;
    }
    heap[hole] = entry;
  }
}
