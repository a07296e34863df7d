import { useTheme2 } from '@grafana/ui';
import React from 'react';
import type { Scale } from '../../../../../core/chart/scale.ts';
import { axisStyle, TICK_GAP } from '../../../charts/axis-style.ts';
import type { TimeTick } from './time-ticks.ts';
import type { ValueFormat } from './value-text.ts';

interface Props {
  x: Scale;
  y: Scale;
  timeTicks: readonly TimeTick[];
  valueTicks: readonly number[];
  format: ValueFormat;
}

/** Grid lines and tick labels. */
export function Axes({ x, y, timeTicks, valueTicks, format }: Props) {
  const [left, right] = x.range;
  const [bottom, top] = y.range;
  const { grid, text } = axisStyle(useTheme2());
  return (
    <g aria-hidden="true" data-part="axes">
      {valueTicks.map((value) => (
        <g key={value}>
          <line x1={left} x2={right} y1={crisp(y(value))} y2={crisp(y(value))} {...grid} />
          <text x={left - TICK_GAP} y={y(value)} dy="0.35em" textAnchor="end" {...text}>
            {format(value)}
          </text>
        </g>
      ))}
      {timeTicks.map(({ timeMs, text: label }) => (
        <g key={timeMs}>
          <line x1={crisp(x(timeMs))} x2={crisp(x(timeMs))} y1={bottom} y2={top} {...grid} />
          <text x={x(timeMs)} y={bottom + TICK_GAP} dy="0.9em" textAnchor="middle" {...text}>
            {label}
          </text>
        </g>
      ))}
    </g>
  );
}

/** A line one pixel wide is sharp in the middle of a pixel. */
function crisp(pixel: number): number {
  return Math.floor(pixel) + 0.5;
}
