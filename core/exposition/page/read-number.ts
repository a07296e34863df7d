import { DOT, LF, MINUS, PLUS, SPACE } from './characters.ts';

/** Powers of ten that a double holds exactly. */
const POWERS = Float64Array.from({ length: 23 }, (_, i) => Number(`1e${i}`));
const MAX_EXACT_DIGITS = 15;
const DECIMAL = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;
const INFINITY = /^([+-]?)inf(?:inity)?$/i;

/** Reads the numbers of exposition lines. The end of the number last read is in `end`. */
export class NumberReader {
  end = 0;

  /**
   * The number that starts at `start` and is followed by a space or a line feed, when it has at most 15 digits: those
   * are exact as an integer times a power of ten. Else undefined, and `parseGoFloat` has to decide.
   */
  readShort(bytes: Uint8Array, start: number): number | undefined {
    let i = start;
    let c = bytes[i] as number;
    const negative = c === MINUS;
    if (negative || c === PLUS) c = bytes[++i] as number;
    const first = i;
    let mantissa = 0;
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
    if (digits === 0 || digits > MAX_EXACT_DIGITS) return undefined;
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
