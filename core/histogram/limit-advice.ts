import type { DividedBucket } from './bucket-advice.ts';
import { inOrder, lowerEdge, upperEdge, type ClassicHistogram } from './classic-histogram.ts';
import { fractionBelow, type FractionBelow } from './bounds.ts';

/** What the buckets of a histogram know of a limit. */
export interface LimitAdvice {
  /** Share of the observations that are at most the limit; `low` equals `high` where the limit is a bound. */
  readonly within: FractionBelow;
  /** The bucket (low, high] that holds the limit; `high` is the limit where that is a bound, and may be infinite. */
  readonly bucket: { readonly low: number; readonly high: number };
  readonly isBound: boolean;
}

/** Null without observations. */
export function limitAdvice(limit: number, given: ClassicHistogram): LimitAdvice | null {
  const { bounds, counts, sum } = inOrder(given);
  const within = fractionBelow(limit, { bounds, counts, sum });
  const index = bounds.findIndex((bound) => bound >= limit);
  if (within === null || index < 0) return null;
  const bucket = { low: lowerEdge(bounds, index), high: upperEdge(bounds, index) };
  return { within, bucket, isBound: bucket.high === limit };
}

/** Largest error of a percentile that lies near a limit, as a share of the limit. */
export const ERROR_AT_LIMIT = 0.05;
const DIGITS = 3;

/**
 * The bounds that are missing for the limit to be one, with the next ones on both sides at most 5 % away: the share within the
 * limit is then counted, and a percentile near it is off by 5 % at most. `bounds` are those of today.
 */
export function boundsAround(limit: number, bounds: readonly number[]): readonly DividedBucket[] {
  const low = limit / (1 + ERROR_AT_LIMIT);
  const high = limit * (1 + ERROR_AT_LIMIT);
  const has = (test: (bound: number) => boolean): boolean => bounds.some(test);
  const added = [
    ...(has((bound) => bound >= low && bound < limit) ? [] : [rounded(low, Math.ceil)]),
    ...(has((bound) => bound === limit) ? [] : [limit]),
    ...(has((bound) => bound > limit && bound <= high) ? [] : [rounded(high, Math.floor)]),
  ];
  // As wide as halves of this may be, for servers that take no list of bounds.
  return added.map((bound) => ({ low: limit * (1 - ERROR_AT_LIMIT), high: limit * (1 + ERROR_AT_LIMIT), bound }));
}

/** To few digits, toward the limit. */
function rounded(value: number, toward: (value: number) => number): number {
  const scale = 10 ** (DIGITS - 1 - Math.floor(Math.log10(value)));
  return Number((toward(value * scale) / scale).toPrecision(DIGITS));
}
