import React, { useLayoutEffect, useRef } from 'react';
import type { Scale } from '../../../../../core/chart/scale.ts';
import type { PercentileLine } from './lines.ts';
import { drawLine, type Pen } from './paths.ts';
import { stepsOf } from './steps.ts';

interface Props {
  lines: readonly PercentileLine[];
  x: Scale;
  y: Scale;
}

/**
 * The estimates of more lines than have intervals. On a canvas: browsers take several times as long to paint a vector
 * path per line, which would make a drawing of sixty lines stutter.
 */
export function ManyLines({ lines, x, y }: Props) {
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
