import type { PercentileSeries } from '../compute/percentile-series.ts';
import { OVERFLOW } from '../compute/percentile-points.ts';

/**
 * What is drawn over time, as columns: over the step at each position all values stay as they are. Steps that touch each
 * other are a stretch; where a sample is missing or nothing was observed, one ends and nothing is drawn.
 */
export interface Steps {
  startMs: ArrayLike<number>;
  endMs: ArrayLike<number>;
  estimate: ArrayLike<number>;
  low: ArrayLike<number>;
  high: ArrayLike<number>;
  /** Where the overflow flag is set, the percentile is above `estimate`, the last finite bound. */
  flags: ArrayLike<number>;
  /** Position of the first step of each stretch, and the one after its last. */
  stretches: ReadonlyArray<readonly [from: number, end: number]>;
}

/** The steps of one percentile. A response for the whole range is one step over the visible range. */
export function stepsOf(series: PercentileSeries, index: number, visible: readonly [number, number]): Steps {
  const { points, source } = series;
  const column = points.columns[index];
  if (!column || points.length === 0) {
    return NO_STEPS;
  }
  if (source.kind === 'total') {
    return { ...column, startMs: [visible[0]], endMs: [visible[1]], stretches: [[0, 1]] };
  }
  const { startMs, stretches } = timesOf(series);
  return { ...column, startMs, endMs: points.endMs, stretches };
}

export function isOverflow({ flags }: Steps, position: number): boolean {
  return ((flags[position] ?? 0) & OVERFLOW) !== 0;
}

const NO_STEPS: Steps = { startMs: [], endMs: [], estimate: [], low: [], high: [], flags: [], stretches: [] };

const known = new WeakMap<PercentileSeries, Pick<Steps, 'startMs' | 'stretches'>>();

/** Where the steps of a series begin, and its stretches: the same for all of its percentiles. */
function timesOf(series: PercentileSeries): Pick<Steps, 'startMs' | 'stretches'> {
  let times = known.get(series);
  if (!times) {
    const { length, endMs } = series.points;
    const { stepMs } = series.source;
    const startMs = new Float64Array(length);
    for (let i = 0; i < length; i++) {
      startMs[i] = (endMs[i] ?? NaN) - stepMs;
    }
    times = { startMs, stretches: stretchesOf(startMs, endMs, stepMs) };
    known.set(series, times);
  }
  return times;
}

/** Puts steps that touch each other together. */
export function stretchesOf(
  startMs: ArrayLike<number>,
  endMs: ArrayLike<number>,
  stepMs: number
): Array<[from: number, end: number]> {
  const stretches: Array<[number, number]> = [];
  let from = 0;
  for (let i = 1; i <= startMs.length; i++) {
    if (i === startMs.length || !(Math.abs((startMs[i] ?? NaN) - (endMs[i - 1] ?? NaN)) <= stepMs / 2)) {
      stretches.push([from, i]);
      from = i;
    }
  }
  return stretches;
}
