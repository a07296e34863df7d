import type { DistributionResponse } from '../../../core/api/run-data.ts';

/** A value of an axis as text, with its unit. */
export type Write = (value: number) => string;

/** One drawing in a chart: `y` belongs to the `x` of the same place; a null y is a gap. */
export interface XySeries {
  name: string;
  color: string;
  /** line: from point to point; step: each value holds until the next; points: nothing between. */
  kind: 'line' | 'step' | 'points';
  /** Ascending, except for points. */
  x: readonly number[];
  y: ReadonlyArray<number | null>;
  dashed?: boolean;
  /** Not in the legend and not in the tooltip: it belongs to another series. */
  secondary?: boolean;
}

/** A stretch of x that is named and shaded. */
export interface XyRegion {
  from: number;
  to: number;
  label: string;
  color?: string;
}

export interface Extent {
  low: number;
  high: number;
}

/** The smallest interval that holds these values; null when there is none. */
export function extentOf(values: Iterable<number | null>): Extent | null {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value !== null && Number.isFinite(value)) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return low <= high ? { low, high } : null;
}

/** Place of the value nearest to x in ascending values; -1 in an empty list. */
export function nearestIndex(values: readonly number[], x: number): number {
  let [low, high] = [0, values.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] ?? 0) < x) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const before = values[low - 1];
  return before !== undefined && x - before < (values[low] ?? Infinity) - x ? low - 1 : low;
}

/** The value that a step or a line has at x: of the nearest point, for steps of the last one before. */
export function valueAt({ kind, x: xs, y }: XySeries, x: number): number | null {
  if (xs.length === 0 || x < (xs[0] ?? 0) || x > (xs.at(-1) ?? 0)) {
    return null;
  }
  let at = nearestIndex(xs, x);
  if (kind === 'step' && (xs[at] ?? 0) > x) {
    at -= 1;
  }
  return y[at] ?? null;
}

/** An exact distribution as steps, named with its number of values; nothing when it has none. */
export function distributionSeries(
  { values, share, n }: Pick<DistributionResponse, 'values' | 'share' | 'n'>,
  { name, color }: Pick<XySeries, 'name' | 'color'>
): XySeries[] {
  return n > 0 ? [{ name: `${name}, n = ${n.toLocaleString('en-US')}`, color, kind: 'step', x: values, y: share }] : [];
}
