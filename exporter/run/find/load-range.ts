import type { SearchedLoad } from '../../../core/run/capacity.ts';

/** The loads that a search may use, in requests in flight or requests per second. */
export interface LoadRange {
  readonly load: SearchedLoad;
  /** The first load. */
  readonly start: number;
  /** The lowest and the highest load. */
  readonly min: number;
  readonly max: number;
}

/** A search ends when the load that fails is at most this many times the load that holds. */
export const RESOLUTION_RATIO = 1.1;

/**
 * Loads closer than this are not tried: with an undecided load in the middle, its neighbors at this distance are still within
 * the resolution.
 */
const FINEST_RATIO = 1.045;

/** Rates are rounded to this many digits, so that they can be read and typed. */
const RATE_DIGITS = 4;

/** Whether no finer answer is required between a load that holds and one that fails. */
export function isFine(range: LoadRange, low: number, high: number): boolean {
  return high / low <= RESOLUTION_RATIO || (range.load === 'concurrency' && high - low <= 1);
}

/** The load in the geometric middle of two loads; null when they are too close for another one. */
export function between(range: LoadRange, low: number, high: number): number | null {
  const middle = rounded(range, Math.sqrt(low * high));
  if (range.load === 'concurrency') {
    const inside = Math.min(high - 1, Math.max(low + 1, middle));
    return high - low < 2 ? null : inside;
  }
  return high / low <= FINEST_RATIO || middle <= low || middle >= high ? null : middle;
}

/** Twice the load, at most the highest; null at the highest. */
export function above(range: LoadRange, load: number): number | null {
  return load >= range.max ? null : Math.min(range.max, load * 2);
}

/** Half the load, at least the lowest; null at the lowest. */
export function below(range: LoadRange, load: number): number | null {
  return load <= range.min ? null : Math.max(range.min, rounded(range, load / 2));
}

function rounded({ load }: LoadRange, value: number): number {
  return load === 'concurrency' ? Math.round(value) : Number(value.toPrecision(RATE_DIGITS));
}
