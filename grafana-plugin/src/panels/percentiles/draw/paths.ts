import { px } from '../../../../../core/chart/path.ts';
import type { Scale } from '../../../../../core/chart/scale.ts';
import { OVERFLOW } from '../compute/percentile-points.ts';
import type { PercentileSeries } from '../compute/percentile-series.ts';

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

function isOverflow({ flags }: Steps, position: number): boolean {
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

/** Draws a line in steps; pixels in the drawing. */
export interface Pen {
  moveTo(x: number, y: number): void;
  /** To the right, or to the left, on the same level. */
  across(x: number): void;
  /** Up or down. */
  to(y: number): void;
}

/** Draws the estimates, as steps; interrupted in the overflow bucket, where there is no estimate. */
export function drawLine(steps: Steps, x: Scale, y: Scale, pen: Pen): void {
  const { startMs, endMs, estimate, stretches } = steps;
  for (const [from, end] of stretches) {
    let level = NaN;
    for (let i = from; i < end; i++) {
      const next = isOverflow(steps, i) ? NaN : px(y(estimate[i] ?? NaN));
      // NaN means no line. A point is added only where the level changes.
      if (Object.is(next, level)) {
        continue;
      }
      if (!Number.isNaN(level)) {
        pen.across(px(x(endMs[i - 1] ?? NaN)));
      }
      if (!Number.isNaN(next)) {
        if (!Number.isNaN(level)) {
          pen.to(next);
        } else {
          pen.moveTo(px(x(startMs[i] ?? NaN)), next);
        }
      }
      level = next;
    }
    if (!Number.isNaN(level)) {
      pen.across(px(x(endMs[end - 1] ?? NaN)));
    }
  }
}

/** SVG path of the estimates. */
export function linePath(steps: Steps, x: Scale, y: Scale): string {
  let path = '';
  drawLine(steps, x, y, {
    moveTo: (left, top) => (path += `M${left},${top}`),
    across: (left) => (path += `H${left}`),
    to: (top) => (path += `V${top}`),
  });
  return path;
}

/** Closed SVG path of the intervals; one that reaches into the overflow bucket ends at the top of the drawing. */
export function bandPath({ startMs, endMs, low, high, stretches }: Steps, x: Scale, y: Scale): string {
  const clampY = clamp(y);
  let path = '';
  for (const [from, end] of stretches) {
    const start = px(x(startMs[from] ?? NaN));
    let level = clampY(high[from] ?? NaN);
    path += `M${start},${level}`;
    for (let i = from; i < end; i++) {
      const next = clampY(high[i] ?? NaN);
      path += next === level ? '' : `H${px(x(startMs[i] ?? NaN))}V${next}`;
      level = next;
    }
    level = clampY(low[end - 1] ?? NaN);
    path += `H${px(x(endMs[end - 1] ?? NaN))}V${level}`;
    for (let i = end - 1; i >= from; i--) {
      const next = clampY(low[i] ?? NaN);
      path += next === level ? '' : `H${px(x(endMs[i] ?? NaN))}V${next}`;
      level = next;
    }
    path += `H${start}Z`;
  }
  return path;
}

/** SVG path of the upper and lower edges of the intervals, without the sides. */
export function edgePath({ startMs, endMs, low, high, stretches }: Steps, x: Scale, y: Scale): string {
  const clampY = clamp(y);
  let path = '';
  for (const side of [high, low]) {
    for (const [from, end] of stretches) {
      let level = NaN;
      for (let i = from; i < end; i++) {
        const next = clampY(side[i] ?? NaN);
        if (next !== level) {
          path += i === from ? `M${px(x(startMs[i] ?? NaN))},${next}` : `H${px(x(endMs[i - 1] ?? NaN))}V${next}`;
          level = next;
        }
      }
      path += `H${px(x(endMs[end - 1] ?? NaN))}`;
    }
  }
  return path;
}

/** The steps whose estimate is above the last finite bound, as rectangles from that bound to the top. */
export function overflowPath(steps: Steps, x: Scale, y: Scale): string {
  const { startMs, endMs, estimate, stretches } = steps;
  const top = px(y.range[1]);
  let path = '';
  for (const [from, end] of stretches) {
    for (let i = from; i < end; i++) {
      if (isOverflow(steps, i)) {
        const left = px(x(startMs[i] ?? NaN));
        path += `M${left},${px(y(estimate[i] ?? NaN))}H${px(x(endMs[i] ?? NaN))}V${top}H${left}Z`;
      }
    }
  }
  return path;
}

function clamp(y: Scale): (value: number) => number {
  const [bottom, top] = y.range;
  return (value) =>
    px(Math.min(bottom, Math.max(top, value === Infinity ? top : value === -Infinity ? bottom : y(value))));
}
