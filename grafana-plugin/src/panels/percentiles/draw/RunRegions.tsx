import { DEFAULT_ANNOTATION_COLOR, measureText, useTheme2 } from '@grafana/ui';
import React from 'react';
import { t } from '@grafana/i18n';
import type { Scale } from '../../../../../core/chart/scale.ts';
import type { RunRegion } from '../input/run-regions.ts';

interface RunRegionsProps {
  regions: readonly RunRegion[];
  x: Scale;
  y: Scale;
}

const FONT_SIZE = 11;

/** The dashboard's annotations: a tinted region per run with a bar on the time axis, its title where it has room. */
export function RunRegions({ regions, x, y }: RunRegionsProps) {
  const theme = useTheme2();
  const [left, right] = x.range;
  const [bottom, top] = y.range;
  const height = bottom - top;
  return (
    <g data-part="regions">
      {regions.map(({ startMs, endMs, title, color }, i) => {
        const x0 = Math.max(left, x(startMs));
        const x1 = Math.min(right, x(endMs));
        if (x1 < x0) {
          return null;
        }
        const fill = theme.visualization.getColorByName(color ?? DEFAULT_ANNOTATION_COLOR);
        const fits = measureText(title, FONT_SIZE).width + 10 <= x1 - x0;
        return (
          <g key={i} data-region={title}>
            <title>{title}</title>
            <rect x={x0} y={top} width={x1 - x0} height={height} fill={fill} fillOpacity={0.08} />
            {[startMs, endMs].map((edge) =>
              x(edge) >= left && x(edge) <= right ? (
                <line key={edge} x1={x(edge)} x2={x(edge)} y1={top} y2={bottom} stroke={fill} strokeDasharray="3 3" />
              ) : null
            )}
            <rect x={x0} y={bottom} width={Math.max(2, x1 - x0)} height={4} rx={1} fill={fill} />
            {fits && (
              <text
                x={x0 + 5}
                y={top - 5}
                fontSize={FONT_SIZE}
                fontFamily={theme.typography.fontFamily}
                fill={theme.colors.text.secondary}
              >
                {title}
              </text>
            )}
          </g>
        );
      })}
    </g>
  );
}

interface GridChangesProps {
  timesMs: readonly number[];
  x: Scale;
  y: Scale;
}

/** Marks where the buckets of a series changed: percentiles before and after it are not comparable. */
export function GridChanges({ timesMs, x, y }: GridChangesProps) {
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
