/**
 * The form of a line of JSON: the pieces of text between its values, and what each value is. The lines of a file have
 * the same keys in the same order, so that a line is compared with the pieces of the one before instead of being parsed.
 */
export class LineForm {
  /** Number of pieces. The last one ends the line and no value follows it. 0: no line was read yet. */
  count = 0;
  /** Where a piece starts in `text`, and its bytes. */
  readonly starts: number[] = [];
  readonly lengths: number[] = [];
  /** What the value after a piece is, as it was given to `addValue`. */
  readonly kinds: number[] = [];
  text = new DataView(new ArrayBuffer(0));
  /** Where the piece after the last value starts. */
  #next = 0;

  clear(): void {
    this.count = this.#next = 0;
  }

  /** A value of the line that is being read; positions count from the start of the line. */
  addValue(kind: number, start: number, end: number): void {
    this.#addPiece(kind, start);
    this.#next = end;
  }

  /** The line was read to its end: the form is whole, and a copy of the text is kept. */
  finish(line: Uint8Array): void {
    this.#addPiece(NaN, line.length);
    this.text = new DataView(Uint8Array.from(line).buffer);
  }

  #addPiece(kind: number, end: number): void {
    this.starts[this.count] = this.#next;
    this.lengths[this.count] = end - this.#next;
    this.kinds[this.count] = kind;
    this.count += 1;
  }
}
