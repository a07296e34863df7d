import { blockBootstrap } from '../stats/block-bootstrap.ts';
import { PERCENTILE_NAMES, PERCENTILES } from '../stats/percentiles.ts';
import type { PercentileName } from '../stats/percentiles.ts';

const RESAMPLES = 1000;
const SEED = 1;
const CONFIDENCE = 0.95;

/** Values that must be expected beyond a percentile, as in `blockBootstrap`. */
const NEEDED_BEYOND = 5;

/** Above this many values no interval is calculated: it would need several times the values' own memory. */
export const INTERVALS_UP_TO = 1_000_000;

/** The sampling uncertainty of a run's percentiles. */
export interface SamplingIntervals {
  /** n as independent observations would give the same certainty. */
  readonly effective_n: number;
  /** 95 % intervals; null when the values are too few for that percentile or an end is infinite. */
  readonly ci95: Readonly<Record<PercentileName, readonly [low: number, high: number] | null>>;
}

/**
 * 95 % intervals by a moving-block bootstrap (`blockBootstrap`), the same for the same values. `values` are in the
 * order in which their requests started, `sorted` the same ascending. Null when there are none, or more than a million.
 */
export function samplingIntervals(values: Float64Array, sorted: Float64Array): SamplingIntervals | null {
  if (values.length === 0 || values.length > INTERVALS_UP_TO) return null;
  const [first] = sorted;
  if (first !== undefined && first === sorted.at(-1)) return constantIntervals(first, values.length);
  const { intervals, effectiveSampleSize } = blockBootstrap(values, {
    quantiles: PERCENTILE_NAMES.map((name) => PERCENTILES[name]),
    resamples: RESAMPLES,
    seed: SEED,
    confidence: CONFIDENCE,
    sorted,
  });
  const named = PERCENTILE_NAMES.map((name, i) => {
    const interval = intervals[i] ?? null;
    return [name, interval?.every(Number.isFinite) === true ? interval : null] as const;
  });
  return { effective_n: effectiveSampleSize, ci95: Object.fromEntries(named) as SamplingIntervals['ci95'] };
}

/** Lengths of responses are often all the same, and a resample of them is too: what the bootstrap gives, without drawing. */
function constantIntervals(value: number, n: number): SamplingIntervals {
  const named = PERCENTILE_NAMES.map((name) => {
    const tail = Math.min(PERCENTILES[name], 1 - PERCENTILES[name]);
    return [name, Number.isFinite(value) && n * tail >= NEEDED_BEYOND ? [value, value] : null] as const;
  });
  return { effective_n: n, ci95: Object.fromEntries(named) as unknown as SamplingIntervals['ci95'] };
}
