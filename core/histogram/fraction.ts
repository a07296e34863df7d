import { inOrder } from './classic-histogram.ts';
import type { ClassicHistogram } from './classic-histogram.ts';
import { lowerEdge, upperEdge } from './edges.ts';
import { monotonic } from './monotonic.ts';
import { total } from './total.ts';

/** A share of all observations, 0 to 1. */
export interface FractionBelow {
  /** Share that is certain to be at or below x. */
  low: number;
  /** Prometheus' `histogram_fraction(-Inf, x, …)`: linear inside the bucket of x. */
  estimate: number;
  /** Share that can lie at or below x. */
  high: number;
}

/**
 * Share of the observations that are <= x.
 *
 * Exact (low = high) when x is a bound; else x lies inside a bucket, and `low` leaves all of that bucket out, `high`
 * takes all of it. Below 0 the share is 0 when the first bound is above 0 (values are assumed to be >= 0, as
 * Prometheus assumes). `low` and `high` hold for true counts only. The estimate follows `BucketFraction`
 * (promql/quantile.go, Prometheus 3), which does not repair counts that go down; `low` and `high` do.
 *
 * Null when x is NaN, when there is no +Inf bucket, or when the total is 0 or any count is not finite.
 */
export function fractionBelow(x: number, h: ClassicHistogram): FractionBelow | null {
  const raw = inOrder(h);
  const { bounds, counts } = raw;
  const n = total(raw);
  if (Number.isNaN(x) || !(n > 0) || !counts.every(Number.isFinite)) return null;
  const estimate = Math.min(estimatedRank(x, bounds, counts), n) / n;
  const repaired = monotonic(raw, 0).histogram;
  const index = bounds.findIndex((bound) => bound >= x);
  const atUpper = repaired.counts[index] ?? NaN;
  const atLower = index === 0 ? 0 : (repaired.counts[index - 1] ?? NaN);
  const all = total(repaired);
  if (x === upperEdge(bounds, index)) return { low: atUpper / all, estimate, high: atUpper / all };
  if (x < lowerEdge(bounds, index) || x === -Infinity) return { low: 0, estimate, high: 0 };
  return { low: atLower / all, estimate, high: atUpper / all };
}

/** Number of observations below x when those of each bucket are spread evenly over it. */
function estimatedRank(x: number, bounds: readonly number[], counts: readonly number[]): number {
  let before = 0;
  for (const [i, count] of counts.entries()) {
    const lower = lowerEdge(bounds, i);
    const upper = upperEdge(bounds, i);
    if (lower >= x) return before;
    if (upper > x) return lower === -Infinity ? count : before + ((count - before) * (x - lower)) / (upper - lower);
    before = count;
  }
  return before;
}
