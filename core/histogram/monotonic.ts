import type { ClassicHistogram } from './classic-histogram.ts';

/** Relative difference of two counts that Prometheus takes for rounding noise (`smallDeltaTolerance`). */
const NOISE = 1e-12;

/** The smallest positive normal float64. */
const MIN_NORMAL = 2 ** -1022;

/** A histogram whose counts never go down, and whether they did before. */
export interface Monotonic {
  readonly histogram: ClassicHistogram;
  /** True when a count had to be raised by more than rounding noise. */
  readonly forced: boolean;
}

/**
 * Makes cumulative counts monotonic as Prometheus does: a count below the running maximum is raised to it, and a
 * count that differs from its predecessor by rounding noise only, up or down, is set to it without a mark.
 *
 * `tolerance` is the relative size of that noise; 0 keeps every rise, as whole-number counts want it.
 * Follows `ensureMonotonicAndIgnoreSmallDeltas` of Prometheus 3 (promql/quantile.go).
 */
export function monotonic(h: ClassicHistogram, tolerance: number = NOISE): Monotonic {
  const { counts } = h;
  // Most histograms are monotonic: a copy is made only where a count has to be changed.
  let repaired: number[] | null = null;
  let forced = false;
  let previous = counts[0] ?? NaN;
  for (let i = 1; i < counts.length; i++) {
    const current = counts[i] ?? NaN;
    if (current === previous) continue;
    const noise = almostEqual(previous, current, tolerance);
    if (noise || current < previous) {
      repaired ??= [...counts];
      repaired[i] = previous;
      forced ||= !noise;
    } else {
      previous = current;
    }
  }
  return { histogram: repaired ? { ...h, counts: repaired } : h, forced };
}

/** Prometheus' `almost.Equal` (util/almost), without its stale markers. */
function almostEqual(a: number, b: number, epsilon: number): boolean {
  if (Number.isNaN(a) && Number.isNaN(b)) return true;
  if (a === b) return true;
  const sum = Math.abs(a) + Math.abs(b);
  const difference = Math.abs(a - b);
  if (a === 0 || b === 0 || sum < MIN_NORMAL) return difference < epsilon * MIN_NORMAL;
  return difference / Math.min(sum, Number.MAX_VALUE) < epsilon;
}
