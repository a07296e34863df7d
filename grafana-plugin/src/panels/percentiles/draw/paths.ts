import type { Scale } from './scale.ts';
import type { Step } from './steps.ts';

/** SVG path of the estimates, as steps; interrupted in the overflow bucket, where there is no estimate. */
export function linePath(stretches: readonly Step[][], x: Scale, y: Scale): string {
  let path = '';
  for (const steps of stretches) {
    let pen: number | null = null;
    for (const { startMs, endMs, estimate, overflow } of steps) {
      if (overflow) {
        pen = null;
        continue;
      }
      const level = px(y(estimate));
      path += pen === null ? `M${px(x(startMs))},${level}` : pen === level ? '' : `V${level}`;
      path += `H${px(x(endMs))}`;
      pen = level;
    }
  }
  return path;
}

/** Closed SVG path of the intervals; one that reaches into the overflow bucket ends at the top of the drawing. */
export function bandPath(stretches: readonly Step[][], x: Scale, y: Scale): string {
  const clampY = clamp(y);
  let path = '';
  for (const steps of stretches) {
    const first = steps[0];
    if (!first) {
      continue;
    }
    path += `M${px(x(first.startMs))},${clampY(first.high)}`;
    for (const { startMs, endMs, high } of steps) {
      path += `H${px(x(startMs))}V${clampY(high)}H${px(x(endMs))}`;
    }
    for (const { startMs, endMs, low } of [...steps].reverse()) {
      path += `H${px(x(endMs))}V${clampY(low)}H${px(x(startMs))}`;
    }
    path += 'Z';
  }
  return path;
}

/** SVG path of the upper and lower edges of the intervals, without the sides. */
export function edgePath(stretches: readonly Step[][], x: Scale, y: Scale): string {
  const clampY = clamp(y);
  let path = '';
  for (const side of ['high', 'low'] as const) {
    for (const steps of stretches) {
      steps.forEach((step, i) => {
        const level = clampY(step[side]);
        path += `${i === 0 ? `M${px(x(step.startMs))},` : 'V'}${level}H${px(x(step.endMs))}`;
      });
    }
  }
  return path;
}

/** The steps whose estimate lies beyond the last finite bound, as rectangles from that bound to the top. */
export function overflowPath(stretches: readonly Step[][], x: Scale, y: Scale): string {
  const top = px(y.range[1]);
  return stretches
    .flat()
    .filter(({ overflow }) => overflow)
    .map(
      ({ startMs, endMs, estimate }) =>
        `M${px(x(startMs))},${px(y(estimate))}H${px(x(endMs))}V${top}H${px(x(startMs))}Z`
    )
    .join('');
}

function clamp(y: Scale): (value: number) => number {
  const [bottom, top] = y.range;
  return (value) =>
    px(Math.min(bottom, Math.max(top, value === Infinity ? top : value === -Infinity ? bottom : y(value))));
}

function px(pixel: number): number {
  return Math.round(pixel * 10) / 10;
}
