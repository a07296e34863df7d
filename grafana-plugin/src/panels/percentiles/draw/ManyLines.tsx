import React, { useLayoutEffect, useRef } from 'react';
import type { Scale } from '../../../../../core/chart/scale.ts';
import type { PercentileLine, GivenShape } from './lines.ts';
import { drawLine, stepsOf, linePath, stretchesOf, type Pen, type Steps } from './paths.ts';

interface ManyLinesProps {
  lines: readonly PercentileLine[];
  x: Scale;
  y: Scale;
}

/**
 * The estimates of more lines than have intervals. On a canvas: browsers take several times as long to paint a vector
 * path per line, which would make a drawing of sixty lines stutter.
 */
export function ManyLines({ lines, x, y }: ManyLinesProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [left, right] = x.range;
  const [bottom, top] = y.range;
  const [width, height] = [right - left, bottom - top];
  useLayoutEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (canvas.current && context) {
      const density = window.devicePixelRatio || 1;
      // Setting the size empties the canvas.
      canvas.current.width = Math.round(width * density);
      canvas.current.height = Math.round(height * density);
      context.setTransform(density, 0, 0, density, -left * density, -top * density);
      draw(context, lines, x, y);
    }
  }, [lines, x, y, left, top, width, height]);
  return (
    <canvas
      ref={canvas}
      aria-hidden="true"
      data-part="many-lines"
      style={{ position: 'absolute', left, top, width, height }}
    />
  );
}

function draw(context: CanvasRenderingContext2D, lines: readonly PercentileLine[], x: Scale, y: Scale): void {
  const pen = canvasPen(context);
  context.lineWidth = 1.75;
  for (const { series, index, color, dash } of lines) {
    context.strokeStyle = color;
    context.setLineDash(dash ? dash.split(' ').map(Number) : []);
    context.beginPath();
    drawLine(stepsOf(series, index, [x.domain[0], x.domain[1]]), x, y, pen);
    context.stroke();
  }
}

function canvasPen(context: CanvasRenderingContext2D): Pen {
  let [left, top] = [0, 0];
  return {
    moveTo: (x, y) => context.moveTo((left = x), (top = y)),
    across: (x) => context.lineTo((left = x), top),
    to: (y) => context.lineTo(left, (top = y)),
  };
}

interface GivenLinesProps {
  shapes: readonly GivenShape[];
  x: Scale;
  y: Scale;
}

/** Percentiles that the queries have computed themselves, as dotted steps: they have no interval of their own. */
export function GivenLines({ shapes, x, y }: GivenLinesProps) {
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
