/** Units of values that are measured, not counted. */
const MEASURED =
  /seconds|minutes|hours|days|ratio|percent|per_|\/s$|bytes|celsius|fahrenheit|kelvin|hertz|watts|joules|mixed/;

/**
 * Whether the observed values are whole numbers: they are counted in `unit` (tokens, blocks), and no bound contradicts
 * it. An unknown unit is none of things.
 */
export function hasWholeValues(unit: string | null, bounds: readonly number[]): boolean {
  if (unit === null || MEASURED.test(unit)) return false;
  return bounds.every((bound) => Number.isInteger(bound) || !Number.isFinite(bound));
}
