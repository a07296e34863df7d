const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const INFINITE = /^([+-]?)inf(inity)?$/i;

/**
 * Reads the text of an `le` label: a decimal number or an infinity, in the spellings that Go's `ParseFloat` takes
 * (hexadecimal floats apart). Null when it is none of these, is NaN, or is beyond the range of a float64.
 */
export function parseBound(le: string): number | null {
  const infinite = INFINITE.exec(le);
  if (infinite) return infinite[1] === '-' ? -Infinity : Infinity;
  if (!DECIMAL.test(le)) return null;
  const bound = Number(le);
  return Number.isFinite(bound) ? bound : null;
}
