import { useStyles2, useTheme2 } from '@grafana/ui';
import React from 'react';
import type { Scale } from '../../../core/chart/scale.ts';
import { axisStyle, TICK_GAP, chartText } from './chart-style.ts';

interface Props {
  x: Scale;
  y: Scale;
  ticks: readonly number[];
  text: (value: number) => string;
}

/** Values on the left, with a line across the drawing each. */
export function ValueAxis({ x, y, ticks, text }: Props) {
  const { grid } = axisStyle(useTheme2());
  const styles = useStyles2(chartText);
  const [left, right] = x.range;
  return ticks.map((value) => (
    <g key={value}>
      <line x1={left} x2={right} y1={y(value)} y2={y(value)} {...grid} />
      <text x={left - TICK_GAP} y={y(value)} dy="0.35em" textAnchor="end" className={styles.tick}>
        {text(value)}
      </text>
    </g>
  ));
}

/** Values below, with a line up the drawing each. */
export function BottomAxis({ x, y, ticks, text }: Props) {
  const { grid } = axisStyle(useTheme2());
  const styles = useStyles2(chartText);
  const [bottom, top] = y.range;
  return ticks.map((value) => (
    <g key={value}>
      <line x1={x(value)} x2={x(value)} y1={bottom} y2={top} {...grid} />
      <text x={x(value)} y={bottom + TICK_GAP} dy="0.9em" textAnchor="middle" className={styles.tick}>
        {text(value)}
      </text>
    </g>
  ));
}
