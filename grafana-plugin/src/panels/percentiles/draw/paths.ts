import type { Scale } from './scale.ts';
import type { Step } from './steps.ts';

/** SVG path of the estimates, as steps; interrupted in the overflow bucket, where there is no estimate. */
export function linePath(stretches: readonly Step[][], x: Scale, y: Scale): string {
  let path = '';
  for (const steps of stretches) {
    let pen: number | null = null;
    let reachedMs = 0;
    for (const { startMs, endMs, estimate, overflow } of steps) {
      const level: number | null = overflow ? null : px(y(estimate));
      if (level !== pen) {
        // The line is drawn on only where its level changes.
        path += pen === null ? '' : `H${px(x(reachedMs))}`;
        path += level === null ? '' : pen === null ? `M${px(x(startMs))},${level}` : `V${level}`;
        pen = level;
      }
      reachedMs = endMs;
    }
    path += pen === null ? '' : `H${px(x(reachedMs))}`;
  }
  return path;
}

/** Closed SVG path of the intervals; one that reaches into the overflow bucket ends at the top of the drawing. */
export function bandPath(stretches: readonly Step[][], x: Scale, y: Scale): string {
  const clampY = clamp(y);
  let path = '';
  for (const steps of stretches) {
    const [first, last] = [steps[0], steps.at(-1)];
    if (!first || !last) {
      continue;
    }
    let level = clampY(first.high);
    path += `M${px(x(first.startMs))},${level}`;
    for (const { startMs, high } of steps) {
      const next = clampY(high);
      path += next === level ? '' : `H${px(x(startMs))}V${next}`;
      level = next;
    }
    level = clampY(last.low);
    path += `H${px(x(last.endMs))}V${level}`;
    for (let i = steps.length - 1; i >= 0; i--) {
      const { endMs, low } = steps[i] ?? last;
      const next = clampY(low);
      path += next === level ? '' : `H${px(x(endMs))}V${next}`;
      level = next;
    }
    path += `H${px(x(first.startMs))}Z`;
  }
  return path;
}

/** SVG path of the upper and lower edges of the intervals, without the sides. */
export function edgePath(stretches: readonly Step[][], x: Scale, y: Scale): string {
  const clampY = clamp(y);
  let path = '';
  for (const side of ['high', 'low'] as const) {
    for (const steps of stretches) {
      let level = NaN;
      let reachedMs = 0;
      for (const step of steps) {
        const next = clampY(step[side]);
        if (next !== level) {
          path += Number.isNaN(level) ? `M${px(x(step.startMs))},${next}` : `H${px(x(reachedMs))}V${next}`;
          level = next;
        }
        reachedMs = step.endMs;
      }
      path += `H${px(x(reachedMs))}`;
    }
  }
  return path;
}

/** The steps whose estimate lies beyond the last finite bound, as rectangles from that bound to the top. */
export function overflowPath(stretches: readonly Step[][], x: Scale, y: Scale): string {
  const top = px(y.range[1]);
  let path = '';
  for (const steps of stretches) {
    for (const { startMs, endMs, estimate, overflow } of steps) {
      if (overflow) {
        path += `M${px(x(startMs))},${px(y(estimate))}H${px(x(endMs))}V${top}H${px(x(startMs))}Z`;
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

function px(pixel: number): number {
  return Math.round(pixel * 10) / 10;
}
