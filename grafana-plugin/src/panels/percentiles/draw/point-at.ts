import type { PercentilePoint, PercentileSeries } from '../compute/percentile-series.ts';

/** The point that is drawn at a time, or null where nothing is. */
export function pointAt(series: PercentileSeries, timeMs: number): PercentilePoint | null {
  const { points, source } = series;
  if (source.kind === 'total') {
    return points[0] ?? null;
  }
  let low = 0;
  let high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((points[middle]?.endMs ?? Infinity) >= timeMs) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  const point = points[low];
  return point && point.endMs - source.stepMs < timeMs ? point : null;
}
