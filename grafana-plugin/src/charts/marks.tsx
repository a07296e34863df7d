import { measureText, useStyles2, useTheme2 } from '@grafana/ui';
import React, { type SVGProps } from 'react';
import type { Scale } from '../../../core/chart/scale.ts';
import { chartText, gridLine } from './chart-style.ts';
import type { XyRegion } from './xy-series.ts';

/** A drawing, by its scales: `x.range` and `y.range` are its edges in pixels. */
export interface Area {
  x: Scale;
  y: Scale;
}

interface LineAtProps extends Area, Omit<SVGProps<SVGLineElement>, 'x' | 'y'> {
  axis: 'x' | 'y';
  /** Pixels along the axis. */
  at: number;
}

/** A line across a drawing, at a place of one of its axes. */
export function LineAt({ axis, at, x, y, ...line }: LineAtProps) {
  const [left, right] = x.range;
  const [bottom, top] = y.range;
  const ends = axis === 'x' ? { x1: at, x2: at, y1: top, y2: bottom } : { x1: left, x2: right, y1: at, y2: at };
  return <line {...ends} {...line} />;
}

interface AxisProps extends Area {
  axis: 'x' | 'y';
  ticks: readonly number[];
  text: (value: number) => string;
}

/** Pixels between an axis and its texts. */
const TICK_GAP = 8;

/** Values below the drawing, or on its left, with a line across it each. */
export function Axis({ axis, x, y, ticks, text }: AxisProps) {
  const grid = gridLine(useTheme2());
  const styles = useStyles2(chartText);
  const [left] = x.range;
  const [bottom] = y.range;
  return ticks.map((value) => {
    const at = (axis === 'x' ? x : y)(value);
    const place =
      axis === 'x'
        ? { x: at, y: bottom + TICK_GAP, dy: '0.9em', textAnchor: 'middle' as const }
        : { x: left - TICK_GAP, y: at, dy: '0.35em', textAnchor: 'end' as const };
    return (
      <g key={value}>
        <LineAt axis={axis} at={crisp(at)} x={x} y={y} {...grid} />
        <text className={styles.tick} {...place}>
          {text(value)}
        </text>
      </g>
    );
  });
}

/** A line one pixel wide is sharp in the middle of a pixel. */
function crisp(pixel: number): number {
  return Math.floor(pixel) + 0.5;
}

/** Named stretches of x: tinted, with a bar on the axis, and with the name where it has room. */
export function Regions({ regions, x, y }: Area & { regions: readonly XyRegion[] }) {
  const theme = useTheme2();
  const styles = useStyles2(chartText);
  const [left, right] = x.range;
  const [bottom, top] = y.range;
  return regions.map(({ from, to, label, color = theme.colors.primary.main }, i) => {
    const x0 = Math.max(left, x(from));
    const x1 = Math.min(right, x(to));
    const hasRoom = measureText(label, 11).width + 10 <= x1 - x0;
    return x1 < x0 ? null : (
      <g key={i} data-region={label}>
        <title>{label}</title>
        <rect x={x0} y={top} width={x1 - x0} height={bottom - top} fill={color} fillOpacity={0.08} />
        {[x(from), x(to)]
          .filter((edge) => edge >= left && edge <= right)
          .map((edge) => (
            <LineAt key={edge} axis="x" at={edge} x={x} y={y} stroke={color} strokeDasharray="3 3" />
          ))}
        <rect x={x0} y={bottom} width={Math.max(2, x1 - x0)} height={4} rx={1} fill={color} />
        {hasRoom && (
          <text x={x0 + 5} y={top - 5} className={styles.note}>
            {label}
          </text>
        )}
      </g>
    );
  });
}
