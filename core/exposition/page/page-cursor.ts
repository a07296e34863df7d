import { ExpositionError, quoteForMessage, type ExpositionFormat, type ParseOptions } from '../exposition.ts';

/** The bytes with a meaning in the formats. */
export const TAB = 9;
export const LF = 10;
export const SPACE = 32;
export const QUOTE = 34;
export const HASH = 35;
export const PLUS = 43;
export const COMMA = 44;
export const MINUS = 45;
export const DOT = 46;
export const EQUALS = 61;
export const BACKSLASH = 92;
export const BRACE_OPEN = 123;
export const BRACE_CLOSE = 125;

const NAME_START = 1;
const NAME = 2;
const LABEL_START = 4;
const LABEL = 8;

/** Classes of bytes: metric names `[a-zA-Z_:][a-zA-Z0-9_:]*`, label names `[a-zA-Z_][a-zA-Z0-9_]*`. */
const CLASSES = new Uint8Array(256);
for (let c = 0; c < 256; c++) {
  const letter = (c >= 65 && c <= 90) || (c >= 97 && c <= 122) || c === 95;
  const digit = c >= 48 && c <= 57;
  if (letter) CLASSES[c] = NAME_START | NAME | LABEL_START | LABEL;
  else if (digit) CLASSES[c] = NAME | LABEL;
  else if (c === 58) CLASSES[c] = NAME_START | NAME;
}

/** Each takes a byte, or undefined after the end of the page (of no class). */
export function isNameStart(c: number | undefined): boolean {
  return ((CLASSES[c as number] as number) & NAME_START) !== 0;
}
export function isNamePart(c: number | undefined): boolean {
  return ((CLASSES[c as number] as number) & NAME) !== 0;
}
export function isLabelStart(c: number | undefined): boolean {
  return ((CLASSES[c as number] as number) & LABEL_START) !== 0;
}
export function isLabelPart(c: number | undefined): boolean {
  return ((CLASSES[c as number] as number) & LABEL) !== 0;
}

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

/** What the two formats allow in a line. */
export interface Dialect {
  readonly format: ExpositionFormat;
  /** Blanks where Prometheus' text parser skips them, blank lines, comments, raw line feeds in label values. */
  readonly blanks: boolean;
  /** Strict OpenMetrics, instead of the way Prometheus reads it. */
  readonly strict: boolean;
}

export const TEXT: Dialect = { format: 'text-0.0.4', blanks: true, strict: false };

export function openMetricsDialect(rules: NonNullable<ParseOptions['rules']>): Dialect {
  return { format: 'openmetrics-1.0.0', blanks: false, strict: rules === 'specification' };
}
