import React from 'react';
import type { Scale } from '../../../../../core/chart/scale.ts';
import type { GivenShape } from './given-shapes.ts';
import { linePath } from './paths.ts';
import { type Steps, stretchesOf } from './steps.ts';

interface Props {
  shapes: readonly GivenShape[];
  x: Scale;
  y: Scale;
}

/** Percentiles that the queries have computed themselves, as dotted steps: they have no interval of their own. */
export function GivenLines({ shapes, x, y }: Props) {
  return (
    <g data-part="given">
      {shapes.map((shape) => (
        <path
          key={shape.key}
          data-given={shape.name}
          d={linePath(givenSteps(shape, x.domain), x, y)}
          fill="none"
          stroke={shape.color}
          strokeWidth={2.5}
          strokeLinecap="round"
          strokeDasharray="0.1 6"
        />
      ))}
    </g>
  );
}

/** Each sample covers the step that ends with it; a single sample covers the visible range. */
function givenSteps({ line }: GivenShape, visible: readonly [number, number]): Steps {
  const { times, values, stepMs } = line;
  const rows = [...times.keys()].filter((row) => Number.isFinite(values[row] ?? NaN));
  const estimate = rows.map((row) => values[row] ?? NaN);
  const alone = times.length === 1;
  const endMs = rows.map((row) => (alone ? visible[1] : (times[row] ?? NaN)));
  const startMs = endMs.map((end, i) => {
    const start = alone ? visible[0] : end - stepMs;
    const before = endMs[i - 1] ?? NaN;
    // Steps that nearly touch do touch.
    return Math.abs(start - before) <= stepMs / 2 ? before : start;
  });
  const intervals = { low: estimate, high: estimate, flags: [] };
  return { startMs, endMs, estimate, ...intervals, stretches: stretchesOf(startMs, endMs, stepMs) };
}
