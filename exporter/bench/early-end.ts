/** Cells of the memory behind an `EarlyEnd`. */
const ERRORS_IN_A_ROW = 0;
const DECLARED = 1;
export const EARLY_END_CELLS = 2;

/**
 * What ends a phase before its time, counted over all who send its requests: errors in a row, and the word that no more is
 * to be sent. Its memory may be shared between threads; then it holds for all of them at once.
 */
export class EarlyEnd {
  readonly #cells: Int32Array;
  readonly #told: (graceSeconds: number | null) => void;

  /** `told` is called when this side declares the end; it gets the time after which requests under way are cancelled. */
  constructor(
    cells: Int32Array = new Int32Array(EARLY_END_CELLS),
    told: (graceSeconds: number | null) => void = () => undefined,
  ) {
    this.#cells = cells;
    this.#told = told;
  }

  succeeded(): void {
    Atomics.store(this.#cells, ERRORS_IN_A_ROW, 0);
  }

  /** How many have failed in a row, with this one. */
  failed(): number {
    return Atomics.add(this.#cells, ERRORS_IN_A_ROW, 1) + 1;
  }

  /** Nobody sends any more; null: those under way may take their time. */
  declare(graceSeconds: number | null): void {
    Atomics.store(this.#cells, DECLARED, 1);
    this.#told(graceSeconds);
  }

  get declared(): boolean {
    return Atomics.load(this.#cells, DECLARED) === 1;
  }

  /** Before a phase begins. */
  clear(): void {
    this.#cells.fill(0);
  }
}
