/** Cells of the memory of an `EarlyEnd`. */
const ERRORS_IN_A_ROW = 0;
const DECLARED = 1;
export const EARLY_END_CELLS = 2;

/**
 * What ends a phase early, counted over all senders of its requests: consecutive errors, and the decision to send no
 * more. Threads may share its memory; then it applies to all of them at once.
 */
export class EarlyEnd {
  readonly #cells: Int32Array;
  readonly #reported: (graceSeconds: number | null) => void;

  /** `reported` is called when this side ends the phase; it gets the time after which requests in flight are cancelled. */
  constructor(
    cells: Int32Array = new Int32Array(EARLY_END_CELLS),
    reported: (graceSeconds: number | null) => void = () => undefined,
  ) {
    this.#cells = cells;
    this.#reported = reported;
  }

  succeeded(): void {
    Atomics.store(this.#cells, ERRORS_IN_A_ROW, 0);
  }

  /** The number of consecutive failures, including this one. */
  failed(): number {
    return Atomics.add(this.#cells, ERRORS_IN_A_ROW, 1) + 1;
  }

  /** No sender sends further requests; null: those in flight may finish without a limit. */
  declare(graceSeconds: number | null): void {
    Atomics.store(this.#cells, DECLARED, 1);
    this.#reported(graceSeconds);
  }

  get declared(): boolean {
    return Atomics.load(this.#cells, DECLARED) === 1;
  }

  /** Call before a phase begins. */
  clear(): void {
    this.#cells.fill(0);
  }
}
