import { useTheme2 } from '@grafana/ui';
import React from 'react';
import type { Scale } from './scale.ts';
import type { ValueFormat } from './value-text.ts';

interface Props {
  x: Scale;
  y: Scale;
  slo: number | undefined;
  /** Last finite bucket bounds that a percentile has exceeded. */
  overflowEdges: readonly number[];
  format: ValueFormat;
}

/** The service level objective, and the bounds above which the buckets know nothing. */
export function ReferenceLines({ x, y, slo, overflowEdges, format }: Props) {
  const theme = useTheme2();
  const [left, right] = x.range;
  const [bottom, top] = y.range;
  const visible = (value: number) => y(value) <= bottom && y(value) >= top;
  const text = { fontSize: 11, fontFamily: theme.typography.fontFamily };
  return (
    <g data-part="references">
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
          <text x={left + 6} y={y(edge) - 5} fill={theme.colors.text.secondary} {...text}>
            {`> ${format(edge)}: beyond the last bucket`}
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
            {`SLO ${format(slo)}`}
          </text>
        </g>
      )}
    </g>
  );
}
