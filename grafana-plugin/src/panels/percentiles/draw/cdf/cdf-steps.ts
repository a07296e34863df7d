import { lowerEdge, upperEdge, type ClassicHistogram } from '../../../../../../core/histogram/classic-histogram.ts';

/** One bucket of a distribution: between its edges the share at or below a value rises from `from` to `to`. */
export interface CdfStep {
  /** -Infinity where the first bucket has no lower edge. */
  low: number;
  /** Infinity in the overflow bucket. */
  high: number;
  /** Shares, 0 to 1. */
  from: number;
  to: number;
}

/** The cumulative distribution as a band of steps: exact at the bucket bounds, and bounded by the step between them. */
export function cdfSteps({ bounds, counts }: ClassicHistogram): CdfStep[] {
  const n = counts.at(-1) ?? 0;
  if (!(n > 0)) {
    return [];
  }
  let from = 0;
  return bounds.map((_, i) => {
    // Counts that go down, as rates may by rounding, are raised to the highest before them.
    const to = Math.min(1, Math.max(from, (counts[i] ?? 0) / n));
    const step = { low: lowerEdge(bounds, i), high: upperEdge(bounds, i), from, to };
    from = to;
    return step;
  });
}
