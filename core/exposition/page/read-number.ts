import { DOT, LF, MINUS, PLUS, SPACE } from './page-cursor.ts';

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
