import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { t } from '@grafana/i18n';
import { useStyles2, useTheme2 } from '@grafana/ui';
import React, { useId, useMemo } from 'react';
import {
  ADVISED_QUANTILES,
  type AdvisedPercentile,
  type GroupAdvice,
} from '../../../../core/histogram/bucket-advice.ts';
import { bucketIntervalText, significant, tickText } from '../../../../core/text/quantities.ts';
import { useWidth } from '../../charts/useWidth.ts';
import { percentileColor } from './percentile-color.ts';
import { labeledBounds, type PlotScale, plotScale } from './plot-scale.ts';

const BARS = 52;
const ROW = 12;
const AXIS = 18;
const LEFT = 30;
/** Half of a bound's text. */
const RIGHT = 28;
/** Room of a bound's text. */
const TEXT_ROOM = 56;

const PERCENTILES = Object.keys(ADVISED_QUANTILES) as AdvisedPercentile[];
const HEIGHT = BARS + PERCENTILES.length * ROW + AXIS + 4;

interface Props {
  group: GroupAdvice;
  unit: string | null;
  name: string;
}

/** The grid on a logarithmic axis: counts per bucket, the interval of each percentile, and the bounds to add. */
export function BucketPlot({ group, unit, name }: Props) {
  const styles = useStyles2(getStyles);
  const [frame, width] = useWidth<HTMLDivElement>();
  const scale = useMemo(() => plotScale(group.histogram), [group]);
  return (
    <div ref={frame} className={styles.frame}>
      {scale !== null && width > LEFT + RIGHT + 40 && (
        <svg width={width} height={HEIGHT} role="img" aria-label={summary(group, unit, name)}>
          <Drawing scale={scale} group={group} unit={unit} width={width} />
        </svg>
      )}
    </div>
  );
}

interface DrawingProps extends Omit<Props, 'name'> {
  scale: PlotScale;
  width: number;
}

function Drawing({ scale, group, unit, width }: DrawingProps) {
  const theme = useTheme2();
  const pattern = useId();
  const plot = width - LEFT - RIGHT;
  const x = (value: number) => LEFT + scale.position(value) * plot;
  const most = Math.max(...scale.buckets.map(({ count }) => count));
  const bottom = BARS + PERCENTILES.length * ROW + 4;
  const text = { fontSize: 11, fill: theme.colors.text.secondary };
  return (
    <>
      <defs>
        <pattern id={pattern} width={5} height={5} patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <line y2={5} stroke={theme.colors.background.primary} strokeWidth={4} />
        </pattern>
      </defs>
      {scale.buckets.map(({ low, high, count }) => (
        <rect
          key={high}
          data-bucket={high}
          x={x(low) + 0.5}
          width={Math.max(1, x(high) - x(low) - 1)}
          y={BARS - (BARS * count) / most}
          height={(BARS * count) / most}
          fill={theme.colors.text.secondary}
          fillOpacity={0.35}
        >
          <title>{bucketTitle(low, high, count, unit)}</title>
        </rect>
      ))}
      {scale.bounds.map((bound) => (
        <line key={bound} x1={x(bound)} x2={x(bound)} y1={0} y2={bottom} stroke={theme.colors.border.medium} />
      ))}
      {PERCENTILES.map((percentile, row) => {
        const interval = group.intervals[percentile];
        const y = BARS + 4 + row * ROW;
        if (interval === null) {
          return null;
        }
        const [from, to] = [x(interval.low), x(interval.high)];
        return (
          <g key={percentile} data-interval={percentile}>
            <text x={0} y={y + ROW - 4} {...text} fontSize={10}>
              {percentile}
            </text>
            <rect
              x={from}
              width={Math.max(2, to - from)}
              y={y}
              height={ROW - 4}
              fill={percentileColor(percentile, theme)}
            />
            {!group.exact && (
              <rect
                x={from}
                width={Math.max(2, to - from)}
                y={y}
                height={ROW - 4}
                fill={`url(#${pattern})`}
                fillOpacity={0.6}
              />
            )}
          </g>
        );
      })}
      {group.divided.map(({ bound }) => (
        <line
          key={bound}
          data-proposed={bound}
          x1={x(bound)}
          x2={x(bound)}
          y1={0}
          y2={bottom}
          stroke={theme.colors.warning.text}
          strokeWidth={2}
          strokeDasharray="4 3"
        />
      ))}
      <line x1={LEFT} x2={LEFT + plot} y1={bottom} y2={bottom} stroke={theme.colors.border.strong} />
      {labeledBounds(scale, TEXT_ROOM / plot).map((bound) => (
        <text key={bound} x={x(bound)} y={bottom + 13} textAnchor="middle" {...text}>
          {boundText(bound, unit)}
        </text>
      ))}
    </>
  );
}

function boundText(bound: number, unit: string | null): string {
  return unit === 'seconds' ? tickText(bound, 'seconds') : significant(bound);
}

function bucketTitle(low: number, high: number, count: number, unit: string | null): string {
  const interval = bucketIntervalText({ low, high: Number.isFinite(high) ? high : null, width: null }, unit);
  return t('buckets.bucket', '{{interval}}: {{count}} observations', { interval, count: significant(count) });
}

function summary({ intervals, n }: GroupAdvice, unit: string | null, name: string): string {
  const parts = PERCENTILES.map((percentile) => {
    const interval = intervals[percentile];
    return interval === null
      ? `${percentile} –`
      : `${percentile} ${bucketIntervalText(
          {
            low: Number.isFinite(interval.low) ? interval.low : null,
            high: Number.isFinite(interval.high) ? interval.high : null,
            width: interval.width,
          },
          unit
        )}`;
  });
  return t('buckets.summary', 'Buckets of {{name}}, {{n}} observations: {{parts}}', {
    name,
    n: significant(n),
    parts: parts.join(', '),
  });
}

const getStyles = (theme: GrafanaTheme2) => ({
  frame: css({ minWidth: 0, minHeight: HEIGHT, marginTop: theme.spacing(0.5) }),
});
