import { LF } from './characters.ts';
import { ExpositionError, quoteForMessage } from '../exposition-error.ts';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const lenientDecoder = new TextDecoder('utf-8');
const ECHO_BYTES = 40;

/** The bytes of a page, which end with a line feed, with positions for error messages. */
export class PageCursor {
  readonly bytes: Uint8Array;
  readonly end: number;
  /** Position of the careful parsers. */
  at = 0;

  constructor(bytes: Uint8Array) {
    // Not as a Node Buffer: its subarray() is slow.
    this.bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.end = bytes.length;
  }

  /** Moves over all of `a` and `b`. */
  skip(a: number, b: number): void {
    while (this.bytes[this.at] === a || this.bytes[this.at] === b) this.at++;
  }

  /** Offset of the next line feed (or the end of the page). */
  lineEnd(from: number): number {
    const found = this.bytes.indexOf(LF, from);
    return found < 0 ? this.end : found;
  }

  /** Text of [start, end); bytes that are not UTF-8 reject the page. */
  text(start: number, end: number, what: string): string {
    try {
      return decoder.decode(this.bytes.subarray(start, end));
    } catch {
      throw this.error(start, `${what} is not valid UTF-8`);
    }
  }

  /** An error at an offset, with the text found there. */
  unexpected(at: number, expected: string): ExpositionError {
    const end = Math.min(this.lineEnd(at), at + ECHO_BYTES);
    const found =
      at >= this.end
        ? 'the end of the page'
        : end === at
          ? 'the end of the line'
          : quoteForMessage(lenientDecoder.decode(this.bytes.subarray(at, end)));
    return this.error(at, `expected ${expected}, got ${found}`);
  }

  error(at: number, reason: string): ExpositionError {
    const line = this.lineNumber(at);
    const lineStart = at === 0 ? 0 : this.bytes.lastIndexOf(LF, at - 1) + 1;
    return new ExpositionError(line, at - lineStart + 1, reason);
  }

  /** 1-based. Counts line feeds from the start: for messages only. */
  lineNumber(at: number): number {
    let line = 1;
    for (let i = this.bytes.indexOf(LF); i >= 0 && i < at; i = this.bytes.indexOf(LF, i + 1)) line++;
    return line;
  }
}
