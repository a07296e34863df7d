import { ExpositionError, quoteForMessage, type ExpositionFormat, type MetricType } from '../exposition.ts';

/** The bytes with a meaning in the formats. */
export const TAB = 9;
export const LF = 10;
export const SPACE = 32;
export const QUOTE = 34;
export const HASH = 35;
const PLUS = 43;
export const COMMA = 44;
export const MINUS = 45;
const DOT = 46;
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
}

export const TEXT: Dialect = { format: 'text-0.0.4', blanks: true };

export const OPENMETRICS: Dialect = { format: 'openmetrics-1.0.0', blanks: false };

const TEXT_TYPES: ReadonlyMap<string, MetricType> = new Map([
  ['counter', 'counter'],
  ['gauge', 'gauge'],
  ['histogram', 'histogram'],
  ['summary', 'summary'],
  ['untyped', 'unknown'],
]);
const OPENMETRICS_TYPES: ReadonlyMap<string, MetricType> = new Map(
  (['counter', 'gauge', 'histogram', 'gaugehistogram', 'summary', 'info', 'stateset', 'unknown'] as const).map(
    (type) => [type, type],
  ),
);

/** The type that the text of a TYPE line names in a format. */
export function metricType(text: string, dialect: Dialect): MetricType | undefined {
  return (dialect.blanks ? TEXT_TYPES : OPENMETRICS_TYPES).get(text);
}

/** Powers of ten that a double holds exactly. */
const POWERS = Float64Array.from({ length: 23 }, (_, i) => Number(`1e${i}`));
const INT32_DIGITS = 9;
const MAX_EXACT_DIGITS = 15;
const MAX_LONG_DIGITS = 19;
const DECIMAL = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;
const INFINITY = /^([+-]?)inf(?:inity)?$/i;

/** Reads the numbers of exposition lines. The end of the number last read is in `end`. */
export class NumberReader {
  end = 0;

  /**
   * The number that starts at `start` and is followed by a space or a line feed, when it has at most 15 digits, which are
   * exact as an integer times a power of ten, or at most 19 and its rounding is plain. Else undefined, and `parseGoFloat`
   * has to decide.
   */
  readShort(bytes: Uint8Array, start: number): number | undefined {
    let i = start;
    let c = bytes[i] as number;
    const negative = c === MINUS;
    if (negative || c === PLUS) c = bytes[++i] as number;
    const first = i;
    // As long as it is an int32: whole numbers are added faster than doubles.
    let head = 0;
    const headEnd = first + INT32_DIGITS;
    while (c >= 48 && c <= 57 && i < headEnd) {
      head = (Math.imul(head, 10) + c - 48) | 0;
      c = bytes[++i] as number;
    }
    let mantissa = head;
    let scale = 0;
    while (c >= 48 && c <= 57) {
      mantissa = mantissa * 10 + (c - 48);
      c = bytes[++i] as number;
    }
    let digits = i - first;
    if (c === DOT) {
      const point = i;
      c = bytes[++i] as number;
      while (c >= 48 && c <= 57) {
        mantissa = mantissa * 10 + (c - 48);
        c = bytes[++i] as number;
      }
      scale = i - point - 1;
      digits += scale;
    }
    if (digits === 0 || digits > MAX_LONG_DIGITS) return undefined;
    if ((c | 32) === 101) {
      c = bytes[++i] as number;
      const negativeExponent = c === MINUS;
      if (negativeExponent || c === PLUS) c = bytes[++i] as number;
      const exponentStart = i;
      let exponent = 0;
      while (c >= 48 && c <= 57) {
        exponent = exponent * 10 + (c - 48);
        c = bytes[++i] as number;
      }
      if (i === exponentStart || i - exponentStart > 3) return undefined;
      scale += negativeExponent ? exponent : -exponent;
    }
    if (c !== LF && c !== SPACE) return undefined;
    if (digits > MAX_EXACT_DIGITS) {
      const long = longNumber(bytes, first, digits, scale);
      this.end = i;
      return negative && long !== undefined ? -long : long;
    }
    if (scale > 0) {
      if (scale > 22) return undefined;
      mantissa /= POWERS[scale] as number;
    } else if (scale < 0) {
      if (scale < -22) return undefined;
      mantissa *= POWERS[-scale] as number;
    }
    this.end = i;
    return negative ? -mantissa : mantissa;
  }
}

/**
 * The number of 16 to 19 digits (with a point or not) from `start`, divided by 10^scale, computed in twice the precision.
 * Undefined when even that does not determine which of two doubles is nearer.
 */
function longNumber(bytes: Uint8Array, start: number, digits: number, scale: number): number | undefined {
  if (scale < 0 || scale > 22) return undefined;
  let head = 0;
  let rest = 0;
  let i = start;
  for (let digit = 0; digit < digits; i++) {
    const c = bytes[i] as number;
    if (c === DOT) continue;
    if (digit < MAX_EXACT_DIGITS) head = head * 10 + (c - 48);
    else rest = rest * 10 + (c - 48);
    digit++;
  }
  const power = POWERS[digits - MAX_EXACT_DIGITS] as number;
  const divisor = POWERS[scale] as number;
  // The integer as high + low, both exact: what a product loses and the last digits are small integers.
  const product = head * power;
  const below = productError(head, power, product) + rest;
  const high = product + below;
  const low = below - (high - product);
  const quotient = high / divisor;
  const back = quotient * divisor;
  const correction = (high - back - productError(quotient, divisor, back) + low) / divisor;
  const value = quotient + correction * (1 + DOUBT);
  return value === quotient + correction * (1 - DOUBT) ? value : undefined;
}

/** Far above the relative error of the correction. */
const DOUBT = 2 ** -40;
const SPLITTER = 2 ** 27 + 1;

/** What the product of two doubles lost to rounding, exactly (Dekker). */
function productError(a: number, b: number, product: number): number {
  const aScaled = a * SPLITTER;
  const aHigh = aScaled - (aScaled - a);
  const aLow = a - aHigh;
  const bScaled = b * SPLITTER;
  const bHigh = bScaled - (bScaled - b);
  const bLow = b - bHigh;
  return aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow);
}

/**
 * A number as Go's `strconv.ParseFloat` reads it, without the hexadecimal and underscore forms that Prometheus refuses:
 * decimal, `NaN`, `Inf`, `Infinity` in any case. Undefined: not a number, or beyond the range of a double.
 */
export function parseGoFloat(text: string): number | undefined {
  if (DECIMAL.test(text)) {
    const value = Number(text);
    return Number.isFinite(value) ? value : undefined;
  }
  const infinity = INFINITY.exec(text);
  if (infinity !== null) return infinity[1] === '-' ? -Infinity : Infinity;
  return /^nan$/i.test(text) ? NaN : undefined;
}
