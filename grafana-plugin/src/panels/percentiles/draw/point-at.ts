import type { PercentilePoint } from '../compute/percentile-points.ts';
import type { PercentileSeries } from '../compute/percentile-series.ts';

/** The point that is drawn at a time, or null where nothing is. */
export function pointAt(series: PercentileSeries, timeMs: number): PercentilePoint | null {
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
