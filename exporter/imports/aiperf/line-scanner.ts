import { equalBytes } from '../../../core/exposition/page/equal-bytes.ts';

/** Bytes of ASCII that JSON is made of. */
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const BRACE_END = 0x7d;
export const BRACKET = 0x5b;
export const BRACKET_END = 0x5d;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const MINUS = 0x2d;
const PLUS = 0x2b;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const LARGE_E = 0x45;
const SMALL_E = 0x65;

/** Digits after the point of milliseconds that are whole nanoseconds. */
const NS_DECIMALS = 6;
const MOST_EXACT_DIGITS = 15;
const INT32_DIGITS = 9;

/** The line is not of the form that is read fast: it may be right or wrong, and is read as JSON instead. */
export const UNFAMILIAR = new Error('a line of another form');

/**
 * Goes through the bytes of one line of JSON in which nothing is unexpected, without making texts or objects of it.
 * Every method moves `at`, and throws `UNFAMILIAR` when the form differs.
 */
export class LineScanner {
  at = 0;
  #bytes: Uint8Array = new Uint8Array();
  #view = new DataView(this.#bytes.buffer);
  #end = 0;

  /**
   * The part of `bytes` that is the line; they are only looked at until the next `reset`. At least one byte must
   * follow it, which is no digit (its line feed), so that numbers end without a look at where the line does.
   */
  reset(bytes: Uint8Array, from: number, to: number): void {
    if (bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    this.at = from;
    this.#end = to;
  }

  get isAtEnd(): boolean {
    return this.at === this.#end;
  }

  /** The byte at the position; NaN, which is no byte, after the end. */
  peek(): number {
    return this.at < this.#end ? (this.#bytes[this.at] as number) : NaN;
  }

  /** Passes over one byte, and the space that Python's json puts behind commas and colons. */
  expect(byte: number): void {
    if (this.peek() !== byte) throw UNFAMILIAR;
    this.at += 1;
    if ((byte === COMMA || byte === COLON) && this.peek() === SPACE) this.at += 1;
  }

  /** Whether these bytes follow; then they are skipped. */
  takes(expected: Uint8Array): boolean {
    const { at } = this;
    if (at + expected.length > this.#end) return false;
    for (let i = 0; i < expected.length; i++) if (this.#bytes[at + i] !== expected[i]) return false;
    this.at = at + expected.length;
    return true;
  }

  /** Whether a piece of this text follows; then it is skipped. */
  takesText(text: DataView, start: number, length: number): boolean {
    const { at } = this;
    if (at + length > this.#end || !equalBytes(this.#view, at, text, start, length)) return false;
    this.at = at + length;
    return true;
  }

  /** Passes over a string without escapes and returns a number that equal strings share (FNV-1a of its bytes). */
  stringHash(): number {
    this.expect(QUOTE);
    const bytes = this.#bytes;
    let hash = FNV_START;
    for (let at = this.at; at < this.#end; at++) {
      const byte = bytes[at] as number;
      if (byte === QUOTE) {
        this.at = at + 1;
        return hash;
      }
      if (byte === BACKSLASH) throw UNFAMILIAR;
      hash = Math.imul(hash ^ byte, FNV_PRIME);
    }
    throw UNFAMILIAR;
  }

  /** Passes over a string without escapes. */
  skipString(): void {
    this.expect(QUOTE);
    const bytes = this.#bytes;
    for (let at = this.at; at < this.#end; at++) {
      const byte = bytes[at] as number;
      if (byte === QUOTE) {
        this.at = at + 1;
        return;
      }
      if (byte === BACKSLASH) throw UNFAMILIAR;
    }
    throw UNFAMILIAR;
  }

  /** Passes over a string without escapes, a number, true, false or null. */
  skipPlain(): void {
    const byte = this.peek();
    if (byte === QUOTE) this.skipString();
    else if (byte === MINUS || isDigit(byte)) this.#skipNumber();
    else if (!WORDS.some((word) => this.takes(word))) throw UNFAMILIAR;
  }

  /** Passes over a number as JSON's grammar has it. */
  #skipNumber(): void {
    if (this.peek() === MINUS) this.at += 1;
    if (this.peek() === ZERO) this.at += 1;
    else this.#skipDigits();
    if (this.peek() === DOT) {
      this.at += 1;
      this.#skipDigits();
    }
    if (this.peek() !== SMALL_E && this.peek() !== LARGE_E) return;
    this.at += 1;
    if (this.peek() === PLUS || this.peek() === MINUS) this.at += 1;
    this.#skipDigits();
  }

  /** At least one. */
  #skipDigits(): void {
    const bytes = this.#bytes;
    let at = this.at;
    while (at < this.#end && isDigit(bytes[at] as number)) at += 1;
    if (at === this.at) throw UNFAMILIAR;
    this.at = at;
  }

  /** A number. */
  number(): number {
    const start = this.at;
    const { mantissa, decimals, isExact } = this.#decimal();
    if (isExact) return mantissa / (POWERS[decimals] as number);
    return this.#asText(start);
  }

  /** A number of milliseconds, in whole nanoseconds. */
  milliseconds_ns(): number {
    const bytes = this.#bytes;
    const start = this.at;
    let at = start;
    let whole = 0;
    let byte = bytes[at] as number;
    // As long as they are int32: whole numbers are added faster than doubles.
    const wholeEnd = at + INT32_DIGITS;
    while (byte >= ZERO && byte <= NINE && at < wholeEnd) {
      whole = (Math.imul(whole, 10) + byte - ZERO) | 0;
      byte = bytes[++at] as number;
    }
    let fraction = 0;
    let decimals = 0;
    if (byte === DOT && at > start) {
      byte = bytes[++at] as number;
      const first = at;
      const fractionEnd = at + NS_DECIMALS;
      while (byte >= ZERO && byte <= NINE && at < fractionEnd) {
        fraction = (Math.imul(fraction, 10) + byte - ZERO) | 0;
        byte = bytes[++at] as number;
      }
      decimals = at - first;
    }
    const isShort = at - start <= MOST_EXACT_DIGITS;
    let isClear = true;
    if (byte >= ZERO && byte <= NINE && decimals === NS_DECIMALS) {
      // 4.726478999999999 is how Python writes 4,726,479 ns × 1e-6: three more digits report which way it is rounded,
      // unless they are next to the middle.
      const more = threeDigits(bytes, at);
      isClear = more >= 0 && more !== 499 && more !== 500;
      if (more > 500) fraction += 1;
      while (byte >= ZERO && byte <= NINE) byte = bytes[++at] as number;
    }
    // Most end here; a sign, an exponent, more digits and what is no number go the longer way.
    const isEnd = (byte === COMMA || byte === BRACKET_END) && bytes[at - 1] !== DOT;
    const hasLeadingZero = bytes[start] === ZERO && at > start + 1 && bytes[start + 1] !== DOT;
    if (isEnd && at > start && isShort && isClear && !hasLeadingZero) {
      this.at = at;
      return whole * 1e6 + fraction * (POWERS[NS_DECIMALS - decimals] as number);
    }
    const { mantissa, decimals: digits, isExact } = this.#decimal();
    if (isExact && digits <= NS_DECIMALS) return mantissa * (POWERS[NS_DECIMALS - digits] as number);
    return Math.round(this.#asText(start) * 1e6);
  }

  /** A list of numbers of milliseconds, in whole nanoseconds, into `into` from its beginning on; how many there are. */
  listOfMilliseconds_ns(into: number[]): number {
    this.expect(BRACKET);
    let count = 0;
    if (this.peek() !== BRACKET_END) {
      do into[count++] = this.milliseconds_ns();
      while (this.#takesComma());
    }
    this.expect(BRACKET_END);
    return count;
  }

  #takesComma(): boolean {
    if (this.peek() !== COMMA) return false;
    this.at += 1;
    if (this.peek() === SPACE) this.at += 1;
    return true;
  }

  /** Nanoseconds since 1970, 17 to 19 digits, since a second and the nanoseconds in it. */
  wallNanoseconds(zeroSeconds: number, zeroRest_ns: number): number {
    const bytes = this.#bytes;
    const start = this.at;
    let end = start;
    while (end < this.#end && isDigit(bytes[end] as number)) end += 1;
    const length = end - start;
    if (length < 17 || length > 19 || bytes[start] === ZERO) throw UNFAMILIAR;
    let seconds = 0;
    for (let at = start; at < end - 9; at++) seconds = seconds * 10 + (bytes[at] as number) - ZERO;
    let rest = 0;
    for (let at = end - 9; at < end; at++) rest = rest * 10 + (bytes[at] as number) - ZERO;
    this.at = end;
    return (seconds - zeroSeconds) * 1e9 + (rest - zeroRest_ns);
  }

  readonly #found = { mantissa: 0, decimals: 0, isExact: false };

  /** The digits of a number as one whole number, which is exact up to 15 of them and without an exponent. */
  #decimal(): { readonly mantissa: number; readonly decimals: number; readonly isExact: boolean } {
    const bytes = this.#bytes;
    const start = this.at;
    let at = start;
    let mantissa = 0;
    let point = -1;
    const isNegative = bytes[at] === MINUS;
    if (isNegative) at += 1;
    const first = at;
    for (; at < this.#end; at++) {
      const byte = bytes[at] as number;
      if (isDigit(byte)) mantissa = mantissa * 10 + byte - ZERO;
      else if (byte === DOT && point < 0) point = at;
      else break;
    }
    const digits = at - first - (point < 0 ? 0 : 1);
    const ending = at < this.#end ? (bytes[at] as number) : NaN;
    const hasLeadingZero = bytes[first] === ZERO && at > first + 1 && point !== first + 1;
    if (digits === 0 || point === at - 1 || point === first || hasLeadingZero) throw UNFAMILIAR;
    this.at = at;
    const found = this.#found;
    found.mantissa = isNegative ? -mantissa : mantissa;
    found.decimals = point < 0 ? 0 : at - point - 1;
    found.isExact = digits <= MOST_EXACT_DIGITS && ending !== SMALL_E && ending !== LARGE_E;
    return found;
  }

  /** A number with more digits than that, or an exponent. */
  #asText(start: number): number {
    this.at = start;
    this.#skipNumber();
    let text = '';
    for (let i = start; i < this.at; i++) text += String.fromCharCode(this.#bytes[i] as number);
    const value = Number(text);
    if (!Number.isFinite(value)) throw UNFAMILIAR;
    return value;
  }
}

const FNV_START = -2_128_831_035;
const FNV_PRIME = 16_777_619;
const WORDS = ['null', 'true', 'false'].map((word) => new TextEncoder().encode(word));
const POWERS = Float64Array.from({ length: 16 }, (_, power) => Number(`1e${power}`));

/** The number that three digits make; −1 when there are fewer. */
function threeDigits(bytes: Uint8Array, at: number): number {
  const [first, second, third] = [bytes[at] ?? 0, bytes[at + 1] ?? 0, bytes[at + 2] ?? 0];
  if (!isDigit(first) || !isDigit(second) || !isDigit(third)) return -1;
  return (first - ZERO) * 100 + (second - ZERO) * 10 + third - ZERO;
}

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= NINE;

/** The hash that `stringHash` gives of a text. */
export function hashOf(text: string): number {
  let hash = FNV_START;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, FNV_PRIME);
  return hash;
}
