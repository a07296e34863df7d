/** Largest relative difference between two bounds that are meant to be the same: noise of their computation. */
const BOUND_TOLERANCE = 1e-9;

/** Whether two bounds are the same edge, up to a relative 1e-9 (0.30000000000000004 and 0.3). */
export function sameBound(a: number, b: number): boolean {
  if (a === b) return true;
  if (!Number.isFinite(a) || !Number.isFinite(b)) return false;
  return Math.abs(a - b) <= BOUND_TOLERANCE * Math.max(Math.abs(a), Math.abs(b));
}

/** Whether two grids (bounds in ascending order) have the same edges, each up to a relative 1e-9. */
export function sameGrid(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((bound, i) => sameBound(bound, b[i] ?? NaN));
}
