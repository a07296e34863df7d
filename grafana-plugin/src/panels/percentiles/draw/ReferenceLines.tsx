import { ThresholdsMode, type FieldConfig, type GrafanaTheme2 } from '@grafana/data';
import { useTheme2 } from '@grafana/ui';
import React, { type ReactNode } from 'react';
import { LineAt, type Area } from '../../../charts/marks.tsx';
import { type ValueFormat } from './value-text.ts';
import { t } from '../../../text.ts';

interface Threshold {
  value: number;
  color: string;
}

/** The thresholds of the field options that are values, without the base. Those in percent have no place on the axis. */
export function thresholdLines({ thresholds }: FieldConfig, theme: GrafanaTheme2): Threshold[] {
  if (thresholds?.mode !== ThresholdsMode.Absolute) {
    return [];
  }
  return thresholds.steps
    .filter(({ value }) => Number.isFinite(value))
    .map(({ value, color }) => ({ value, color: theme.visualization.getColorByName(color) }));
}

interface Props extends Area {
  /** The axis that has the values. */
  axis: 'x' | 'y';
  /** The service level objective. */
  slo: number | undefined;
  /** The share at or below the objective for a single series; else empty. */
  sloShare: string;
  /** Last finite bucket bounds that a percentile has exceeded. */
  overflowEdges: readonly number[];
  thresholds: readonly Threshold[];
  format: ValueFormat;
  /** Drawn on the line of the objective. */
  children?: ReactNode;
}

/** The service level objective, thresholds, and the bounds above which the buckets know nothing, across a drawing. */
export function ReferenceLines({ axis, x, y, slo, sloShare, overflowEdges, thresholds, format, children }: Props) {
  const theme = useTheme2();
  const [left, right] = x.range;
  const [bottom, top] = y.range;
  const scale = axis === 'x' ? x : y;
  const visible = (value: number) => {
    const at = scale(value);
    return axis === 'x' ? at >= left && at <= right : at <= bottom && at >= top;
  };
  const line = (value: number) => ({ axis, at: scale(value), x, y });
  /** Small text beside a line that stays readable over lines and bands; `lift`: pixels above the lower edge. */
  const beside = (value: number, lift: number) => {
    const isRight = axis === 'x' && scale(value) > (left + right) / 2;
    return {
      ...(axis === 'x'
        ? {
            x: scale(value) + (isRight ? -6 : 6),
            y: bottom - lift,
            textAnchor: isRight ? ('end' as const) : ('start' as const),
          }
        : { x: left + 6, y: scale(value) - 5 }),
      fontSize: 11,
      fontFamily: theme.typography.fontFamily,
      paintOrder: 'stroke',
      stroke: theme.colors.background.primary,
      strokeWidth: 4,
      strokeLinejoin: 'round' as const,
    };
  };
  return (
    <g data-part="references">
      {thresholds
        .filter(({ value }) => visible(value))
        .map(({ value, color }) => (
          <LineAt key={value} data-threshold={value} {...line(value)} stroke={color} strokeWidth={1.5} />
        ))}
      {overflowEdges.filter(visible).map((edge) => (
        <g key={edge} data-overflow-edge={edge}>
          <LineAt {...line(edge)} stroke={theme.colors.text.secondary} strokeDasharray="1 3" />
          <text fill={theme.colors.text.primary} {...beside(edge, 6)}>
            {t('panel.overflow', '> {{edge}}: beyond the last bucket', { edge: format(edge) })}
          </text>
        </g>
      ))}
      {slo !== undefined && visible(slo) && (
        <g data-part="slo">
          <LineAt {...line(slo)} stroke={theme.colors.error.text} strokeWidth={1.5} strokeDasharray="10 5" />
          {children}
          <text fill={theme.colors.error.text} {...beside(slo, 20)}>
            {[t('panel.slo.line', 'SLO {{value}}', { value: format(slo) }), sloShare].filter(Boolean).join(': ')}
          </text>
        </g>
      )}
    </g>
  );
}

/** Marks where the buckets of a series changed: percentiles before and after it are not comparable. */
export function GridChanges({ timesMs, x, y }: Area & { timesMs: readonly number[] }) {
  const theme = useTheme2();
  const color = theme.colors.warning.text;
  const [, top] = y.range;
  return (
    <g data-part="grid-changes">
      {timesMs.map((time) => (
        <g key={time}>
          <LineAt axis="x" at={x(time)} x={x} y={y} stroke={color} strokeDasharray="6 3" />
          <text x={x(time) + 5} y={top + 12} fontSize={11} fontFamily={theme.typography.fontFamily} fill={color}>
            {t('panel.grid-change', 'buckets changed')}
          </text>
        </g>
      ))}
    </g>
  );
}
