import type { ClassicHistogram } from '../classic-histogram.ts';
import { lowerEdge, upperEdge } from '../edges.ts';
import { perBucket } from '../per-bucket.ts';
import { total } from '../total.ts';

/**
 * Prometheus' `histogram_quantile` of a native histogram with an exponential schema (`HistogramQuantile`,
 * promql/quantile.go), here in the form of `onCommonGrid` or of a difference of two of those: inside a bucket the rank is
 * interpolated on a logarithmic scale, in the zero bucket linearly.
 *
 * Special cases: q NaN or no observations: NaN; q < 0: −Infinity; q > 1: +Infinity; rank among NaN observations: NaN. It
 * is an estimate, and never leaves its bucket; `quantileBounds` says how far it can be from the truth. (Histograms with custom bounds are interpolated
 * linearly: `histogramQuantile`.)
 */
export function exponentialQuantile(q: number, h: ClassicHistogram): number {
  const observations = total(h);
  if (Number.isNaN(q) || !(observations > 0)) return NaN;
  if (q < 0) return -Infinity;
  if (q > 1) return Infinity;
  const { bounds } = h;
  const counts = perBucket(h);
  // From the nearer end, for the last digits; without a sum there may be NaN observations, which only come last.
  const forward = h.sum === null || q < 0.5;
  const wanted = (forward ? q : 1 - q) * observations;
  const filled = [...counts.keys()].filter((i) => (counts[i] ?? 0) > 0);
  if (!forward) filled.reverse();
  let seen = 0;
  let bucket = -1;
  for (bucket of filled) {
    seen += counts[bucket] ?? 0;
    if (seen >= wanted) break;
  }
  const count = counts[bucket] ?? NaN;
  const rank = forward ? wanted - (seen - count) : seen - wanted;
  const low = lowerEdge(bounds, bucket);
  const high = upperEdge(bounds, bucket);
  if (high === Infinity && low !== Number.MAX_VALUE) return NaN;
  return interpolated(low === -Number.MIN_VALUE ? 0 : low, high, rank / count, bounds);
}

function interpolated(low: number, high: number, fraction: number, bounds: readonly number[]): number {
  if (low <= 0 && high >= 0) {
    // Beside negative buckets only, the zero bucket ends at 0.
    const onlyNegative = (bounds[0] ?? NaN) < low && bounds.at(-2) === high;
    return low + ((onlyNegative ? 0 : high) - low) * fraction;
  }
  const from = Math.log2(Math.abs(low));
  const to = Math.log2(Math.abs(high));
  const value = low > 0 ? 2 ** (from + (to - from) * fraction) : -(2 ** (to + (from - to) * (1 - fraction)));
  // Rounding may lead out of the bucket.
  return Math.min(high, Math.max(low, value));
}
