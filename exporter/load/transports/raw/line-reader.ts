import { FramingError } from './framing-error.ts';

const LF = 10;

/** Assembles lines that end in CR LF, regardless of how they are split; their total length is limited. */
export class LineReader {
  readonly #limitBytes: number;
  #bytes = 0;
  #start = '';
  #line = '';

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** The last complete line without its end, as Latin-1. */
  get line(): string {
    return this.#line;
  }

  /** The part of the current line that has arrived. */
  get start(): string {
    return this.#start;
  }

  /** Reads [from, length) to the end of the line. Returns the position after it, or -1 when the line is incomplete. */
  read(bytes: Buffer, from: number, length: number): number {
    let end = from;
    while (end < length && bytes[end] !== LF) end++;
    this.#bytes += end - from + 1;
    if (this.#bytes > this.#limitBytes) throw new FramingError(`more than ${this.#limitBytes} bytes of header lines`);
    const text = this.#start + bytes.toString('latin1', from, end);
    if (end === length) {
      this.#start = text;
      return -1;
    }
    if (!text.endsWith('\r')) throw new FramingError('a header line does not end in CR LF');
    this.#start = '';
    this.#line = text.slice(0, -1);
    return end + 1;
  }
}
