import { percentile } from '../core/stats/percentiles.ts';

/** Linear between order statistics: rank (n − 1)q; NaN of nothing. */
export function quantile(values: readonly number[], q: number): number {
  return percentile(Float64Array.from(values).sort(), q);
}

/** Slope of the least-squares line through the points. */
export function slope(points: readonly { readonly x: number; readonly y: number }[]): number {
  const mean = (read: (point: { x: number; y: number }) => number): number =>
    points.reduce((sum, point) => sum + read(point), 0) / points.length;
  const x0 = mean((point) => point.x);
  const y0 = mean((point) => point.y);
  const covariance = mean((point) => (point.x - x0) * (point.y - y0));
  return covariance / mean((point) => (point.x - x0) ** 2);
}
