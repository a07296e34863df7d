import { t } from '@grafana/i18n';
import { useTheme2 } from '@grafana/ui';
import React from 'react';
import type { Scale } from '../../../../../../core/chart/scale.ts';
import type { SloShare } from '../../compute/percentile-series.ts';
import { shareText, PLAIN_TEXT } from '../value-text.ts';
import { type ReferenceMarks, referenceText } from '../ReferenceLines.tsx';

interface Props extends ReferenceMarks {
  x: Scale;
  y: Scale;
  /** The share of each visible distribution that meets the objective. */
  shares: ReadonlyArray<{ key: string; color: string; share: SloShare }>;
}

/** The objective with the share at or below it, thresholds, and the bounds above which the buckets know nothing. */
export function CdfReferences({ x, y, slo, shares, overflowEdges, thresholds, format }: Props) {
  const theme = useTheme2();
  const [bottom, top] = y.range;
  const [left, right] = x.range;
  const visible = (value: number) => x(value) >= left && x(value) <= right;
  const text = referenceText(theme);
  const [only] = shares.length === 1 ? shares : [];
  const line = (value: number) => ({ x1: x(value), x2: x(value), y1: bottom, y2: top });
  return (
    <g data-part="references">
      {thresholds
        .filter(({ value }) => visible(value))
        .map(({ value, color }) => (
          <line key={value} data-threshold={value} {...line(value)} stroke={color} strokeWidth={1.5} />
        ))}
      {overflowEdges.filter(visible).map((edge) => (
        <g key={edge} data-overflow-edge={edge}>
          <line {...line(edge)} stroke={theme.colors.text.secondary} strokeDasharray="1 3" />
          <text x={x(edge) + 5} y={bottom - 6} fill={theme.colors.text.secondary} {...text}>
            {`> ${format(edge)}`}
          </text>
        </g>
      ))}
      {slo !== undefined && visible(slo) && (
        <g data-part="slo">
          <line {...line(slo)} stroke={theme.colors.error.text} strokeWidth={1.5} strokeDasharray="10 5" />
          {shares.map(({ key, color, share }) => (
            <rect
              key={key}
              x={x(slo) - 4}
              y={y(share.high)}
              width={8}
              height={Math.max(3, y(share.low) - y(share.high))}
              fill={color}
              stroke={theme.colors.error.text}
            />
          ))}
          <text
            x={x(slo) + (x(slo) > (left + right) / 2 ? -8 : 8)}
            y={bottom - 20}
            textAnchor={x(slo) > (left + right) / 2 ? 'end' : 'start'}
            fill={theme.colors.error.text}
            {...text}
          >
            {[
              t('panel.slo.line', 'SLO {{value}}', { value: format(slo), ...PLAIN_TEXT }),
              only ? shareText(only.share) : '',
            ]
              .filter(Boolean)
              .join(': ')}
          </text>
        </g>
      )}
    </g>
  );
}
