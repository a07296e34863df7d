import React from 'react';
import type { GivenShape } from './given-shapes.ts';
import { linePath } from './paths.ts';
import type { Scale } from './scale.ts';
import type { Step } from './steps.ts';

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
          d={linePath(givenStretches(shape, x.domain), x, y)}
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

function givenStretches({ line }: GivenShape, visible: readonly [number, number]): Step[][] {
  const { times, values, stepMs } = line;
  const step = (startMs: number, endMs: number, value: number): Step => {
    return { startMs, endMs, estimate: value, overflow: false, low: value, high: value };
  };
  if (times.length === 1) {
    const value = values[0] ?? NaN;
    return Number.isFinite(value) ? [[step(visible[0], visible[1], value)]] : [];
  }
  const stretches: Step[][] = [];
  let endMs = NaN;
  times.forEach((time, row) => {
    const value = values[row] ?? NaN;
    if (Number.isFinite(value)) {
      const touches = Math.abs(time - stepMs - endMs) <= stepMs / 2;
      const one = step(touches ? endMs : time - stepMs, time, value);
      if (touches) {
        stretches.at(-1)?.push(one);
      } else {
        stretches.push([one]);
      }
      endMs = time;
    }
  });
  return stretches;
}
