import { ThresholdsMode, type FieldConfig, type GrafanaTheme2 } from '@grafana/data';
import { useTheme2 } from '@grafana/ui';
import { t } from '@grafana/i18n';
import React from 'react';
import type { Scale } from '../../../../../core/chart/scale.ts';
import { PLAIN_TEXT, type ValueFormat } from './value-text.ts';

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

/** Values that are marked across a drawing. */
export interface ReferenceMarks {
  /** The service level objective. */
  slo: number | undefined;
  /** Last finite bucket bounds that a percentile has exceeded. */
  overflowEdges: readonly number[];
  thresholds: readonly Threshold[];
  format: ValueFormat;
}

/** Small text that stays readable over lines and bands. */
export function referenceText(theme: GrafanaTheme2) {
  return {
    fontSize: 11,
    fontFamily: theme.typography.fontFamily,
    paintOrder: 'stroke',
    stroke: theme.colors.background.primary,
    strokeWidth: 4,
    strokeLinejoin: 'round' as const,
  };
}

interface Props extends ReferenceMarks {
  x: Scale;
  y: Scale;
  /** The share at or below the objective for a single series; else empty. */
  sloShare: string;
}

/** The service level objective, thresholds, and the bounds above which the buckets know nothing. */
export function ReferenceLines({ x, y, slo, sloShare, overflowEdges, thresholds, format }: Props) {
  const theme = useTheme2();
  const [left, right] = x.range;
  const [bottom, top] = y.range;
  const visible = (value: number) => y(value) <= bottom && y(value) >= top;
  const text = referenceText(theme);
  return (
    <g data-part="references">
      {thresholds
        .filter(({ value }) => visible(value))
        .map(({ value, color }) => (
          <line
            key={value}
            data-threshold={value}
            x1={left}
            x2={right}
            y1={y(value)}
            y2={y(value)}
            stroke={color}
            strokeWidth={1.5}
          />
        ))}
      {overflowEdges.filter(visible).map((edge) => (
        <g key={edge} data-overflow-edge={edge}>
          <line
            x1={left}
            x2={right}
            y1={y(edge)}
            y2={y(edge)}
            stroke={theme.colors.text.secondary}
            strokeDasharray="1 3"
          />
          <text x={left + 6} y={y(edge) - 5} fill={theme.colors.text.primary} {...text}>
            {t('panel.overflow', '> {{edge}}: beyond the last bucket', { edge: format(edge), ...PLAIN_TEXT })}
          </text>
        </g>
      ))}
      {slo !== undefined && visible(slo) && (
        <g data-part="slo">
          <line
            x1={left}
            x2={right}
            y1={y(slo)}
            y2={y(slo)}
            stroke={theme.colors.error.text}
            strokeWidth={1.5}
            strokeDasharray="10 5"
          />
          <text x={left + 6} y={y(slo) - 5} fill={theme.colors.error.text} {...text}>
            {[t('panel.slo.line', 'SLO {{value}}', { value: format(slo), ...PLAIN_TEXT }), sloShare]
              .filter(Boolean)
              .join(': ')}
          </text>
        </g>
      )}
    </g>
  );
}
