import type { Percentile } from '../compute/percentile.ts';
import type { PercentilePoint } from '../compute/percentile-points.ts';
import type { PercentileSeries } from '../compute/percentile-series.ts';
import { givenAt, type GivenShape } from './given-shapes.ts';
import type { PercentileLine } from './lines.ts';

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
export const MAX_ROWS = 12;

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
  if (all.length <= MAX_ROWS) {
    return { rows: all, left: 0 };
  }
  const distance = ({ percentile }: TooltipRow) => Math.abs(percentile.estimate - value);
  const nearest = new Set([...all].sort((a, b) => distance(a) - distance(b)).slice(0, MAX_ROWS));
  return { rows: all.filter((row) => nearest.has(row)), left: all.length - MAX_ROWS };
}

/** The point that is drawn at a time, or null where nothing is. */
function pointAt(series: PercentileSeries, timeMs: number): PercentilePoint | null {
  const { points, source } = series;
  if (source.kind === 'total') {
    return points.at(0) ?? null;
  }
  let low = 0;
  let high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((points.endMs[middle] ?? Infinity) >= timeMs) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  const starts = (points.endMs[low] ?? NaN) - source.stepMs < timeMs;
  return starts ? (points.at(low) ?? null) : null;
}

export function givenRows(shapes: readonly GivenShape[], timeMs: number): GivenRow[] {
  return shapes.flatMap((shape) => {
    const value = givenAt(shape.line, timeMs);
    return value === null || !Number.isFinite(value) ? [] : [{ shape, value }];
  });
}
