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
