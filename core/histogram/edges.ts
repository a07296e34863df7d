/**
 * Lower edge of a bucket, the value that its observations exceed.
 *
 * The first bucket has none written down: it is 0 when its bound is above 0 (values are assumed to be >= 0, as
 * Prometheus assumes), else -Infinity.
 */
export function lowerEdge(bounds: readonly number[], index: number): number {
  if (index > 0) return bounds[index - 1] ?? NaN;
  return (bounds[0] ?? NaN) > 0 ? 0 : -Infinity;
}

/** Upper edge of a bucket: its bound, the largest value that it can hold. */
export function upperEdge(bounds: readonly number[], index: number): number {
  return bounds[index] ?? NaN;
}
