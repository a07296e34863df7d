/** By how much a series of values that depend on the one before has moved, with its uncertainty. */
export interface AutoregressiveShift {
  readonly estimate: number;
  readonly standardError: number;
  /** Degrees of freedom of Student's t. */
  readonly degrees: number;
}

/** A dependence beyond this leaves a short series without information on its level. */
const MOST_DEPENDENCE = 0.95;

/**
 * The shift of level between the values before and those that follow them, when each depends on the one before (an
 * autoregression of first order). The dependence is estimated from the values before, corrected for its bias, which is
 * −(1 + 3ρ) ÷ n (Kendall, Biometrika 41, 1954), and taken one standard error larger, because a dependence that is
 * underestimated makes the shift look more certain than it is. Null when the values before are all equal.
 */
export function autoregressiveShift(before: readonly number[], after: readonly number[]): AutoregressiveShift | null {
  const dependence = cautiousDependence(before);
  return dependence === null ? null : shiftUnder(dependence, before, after);
}

/**
 * The same for a known dependence ρ: generalized least squares, by the transformation of Prais and Winsten (1954). The
 * estimate of ρ costs a degree of freedom, as the two levels do.
 */
export function shiftUnder(rho: number, before: readonly number[], after: readonly number[]): AutoregressiveShift {
  const values = [...before, ...after];
  const moved = values.map((_, i) => (i < before.length ? 0 : 1));
  const y = whitened(values, rho);
  const level = whitened(new Array<number>(values.length).fill(1), rho);
  const shift = whitened(moved, rho);
  const [levels, crossed, shifts] = [dot(level, level), dot(level, shift), dot(shift, shift)];
  const determinant = levels * shifts - crossed ** 2;
  const base = (shifts * dot(level, y) - crossed * dot(shift, y)) / determinant;
  const estimate = (levels * dot(shift, y) - crossed * dot(level, y)) / determinant;
  const residuals = y.map((value, i) => value - base * (level[i] ?? 0) - estimate * (shift[i] ?? 0));
  const degrees = values.length - 3;
  const standardError = Math.sqrt(((dot(residuals, residuals) / degrees) * levels) / determinant);
  return { estimate, standardError, degrees };
}

function cautiousDependence(values: readonly number[]): number | null {
  const n = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  const centered = values.map((value) => value - mean);
  const variance = dot(centered, centered);
  if (variance === 0) return null;
  const raw = dot(centered.slice(1), centered) / variance;
  const corrected = Math.max(0, Math.min(MOST_DEPENDENCE, (n * raw + 1) / (n - 3)));
  return Math.min(MOST_DEPENDENCE, corrected + Math.sqrt((1 - corrected ** 2) / n));
}

/** Independent if the values depend on each other so: the first as it is, of the others what is new. */
export function whitened(values: readonly number[], rho: number): readonly number[] {
  return values.map((value, i) => (i === 0 ? Math.sqrt(1 - rho ** 2) * value : value - rho * (values[i - 1] ?? NaN)));
}

/** Over the places of the first. */
export function dot(x: readonly number[], y: readonly number[]): number {
  return x.reduce((sum, value, i) => sum + value * (y[i] ?? NaN), 0);
}
