import { t } from '@grafana/i18n';
import { useTheme2 } from '@grafana/ui';
import React from 'react';
import type { Scale } from '../../../../../core/chart/scale.ts';

interface Props {
  timesMs: readonly number[];
  x: Scale;
  y: Scale;
}

/** Marks where the buckets of a series changed: percentiles before and after it are not comparable. */
export function GridChanges({ timesMs, x, y }: Props) {
  const theme = useTheme2();
  const [bottom, top] = y.range;
  return (
    <g data-part="grid-changes">
      {timesMs.map((time) => (
        <g key={time}>
          <line
            x1={x(time)}
            x2={x(time)}
            y1={top}
            y2={bottom}
            stroke={theme.colors.warning.text}
            strokeDasharray="6 3"
          />
          <text
            x={x(time) + 5}
            y={top + 12}
            fontSize={11}
            fontFamily={theme.typography.fontFamily}
            fill={theme.colors.warning.text}
          >
            {t('panel.grid-change', 'buckets changed')}
          </text>
        </g>
      ))}
    </g>
  );
}
