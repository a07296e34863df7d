import type { Percentile } from '../compute/percentile.ts';
import type { PercentilePoint } from '../compute/percentile-points.ts';
import { givenAt, type GivenShape } from './given-shapes.ts';
import type { PercentileLine } from './lines.ts';
import { pointAt } from './point-at.ts';

export interface TooltipRow {
  line: PercentileLine;
  point: PercentilePoint;
  percentile: Percentile;
}

export interface GivenRow {
  shape: GivenShape;
  value: number;
}

/** A longer tooltip would not fit on the screen; it lists the lines nearest to the pointer. */
export const MOST_ROWS = 12;

/** The percentiles that are drawn at a time, in order of the lines; of many, the nearest to `value`. */
export function tooltipRows(
  lines: readonly PercentileLine[],
  timeMs: number,
  value: number
): { rows: TooltipRow[]; left: number } {
  const all = lines.flatMap((line) => {
    const point = pointAt(line.series, timeMs);
    const percentile = point?.percentiles[line.index];
    return point && percentile ? [{ line, point, percentile }] : [];
  });
  if (all.length <= MOST_ROWS) {
    return { rows: all, left: 0 };
  }
  const distance = ({ percentile }: TooltipRow) => Math.abs(percentile.estimate - value);
  const nearest = new Set([...all].sort((a, b) => distance(a) - distance(b)).slice(0, MOST_ROWS));
  return { rows: all.filter((row) => nearest.has(row)), left: all.length - MOST_ROWS };
}

export function givenRows(shapes: readonly GivenShape[], timeMs: number): GivenRow[] {
  return shapes.flatMap((shape) => {
    const value = givenAt(shape.line, timeMs);
    return value === null || !Number.isFinite(value) ? [] : [{ shape, value }];
  });
}
