import type { DividedBucket } from './bucket-advice.ts';
import { lowerEdge } from './edges.ts';

/** A grid that a server makes of three numbers. */
export interface LogSpacing {
  readonly min: number;
  readonly max: number;
  readonly count: number;
}

/**
 * The bounds of a grid with equal steps in the logarithm: 0, then `count` - 1 bounds from just above `min` up to `max`,
 * rounded to two significant digits, each once. `min` itself is no bound. Needs 0 < `min` < `max` and a `count` above 1.
 */
export function logSpacedBounds({ min, max, count }: LogSpacing): number[] {
  const step = Math.log(max / min) / (count - 1);
  const bounds = Array.from({ length: count - 1 }, (_, i) => twoDigits(min * Math.exp(step * (i + 1))));
  return [...new Set([0, ...bounds])];
}

/** The numbers that make a grid of `logSpacedBounds`; null when there are fewer than three bounds above 0. */
export function spacingOf(bounds: readonly number[]): LogSpacing | null {
  const above = bounds.filter((bound) => bound > 0 && Number.isFinite(bound));
  const [first, last] = [above[0], above.at(-1)];
  if (first === undefined || last === undefined || above.length < 3) return null;
  const ratio = (last / first) ** (1 / (above.length - 1));
  return { min: twoDigits(first / ratio), max: last, count: above.length + 1 };
}

/**
 * The smallest `count` with which every bucket that touches one of the given buckets is at most half as wide as that
 * one. `max` stays; `min` is lowered where the first bucket above 0 is to be divided. Null when no count up to `most`
 * is enough, as two digits do not resolve narrower buckets.
 */
export function finerSpacing(
  bounds: readonly number[],
  buckets: readonly DividedBucket[],
  most: number,
): LogSpacing | null {
  const today = spacingOf(bounds);
  if (today === null) return null;
  const first = buckets.find(({ low }) => low === 0);
  const min = first === undefined ? today.min : twoDigits(Math.min(today.min, first.bound / 2));
  for (let count = today.count + 1; count <= most; count++) {
    const spacing = { min, max: today.max, count };
    if (halves(logSpacedBounds(spacing), buckets)) return spacing;
  }
  return null;
}

/** Rounding of a difference of two bounds. */
const TOLERANCE = 1 + 1e-9;

function halves(bounds: readonly number[], buckets: readonly DividedBucket[]): boolean {
  return buckets.every(({ low, high }) =>
    bounds.every((bound, i) => {
      const lower = lowerEdge(bounds, i);
      const touches = lower < high && bound > low && lower >= 0;
      return !touches || bound - lower <= ((high - low) / 2) * TOLERANCE;
    }),
  );
}

const twoDigits = (value: number): number => Number(value.toPrecision(2));
