import type { GrafanaTheme2 } from '@grafana/data';
import { css } from '@emotion/css';
import { useStyles2, useTheme2 } from '@grafana/ui';
import React, { useId, useMemo } from 'react';
import {
  ADVISED_QUANTILES,
  type AdvisedPercentile,
  type GroupAdvice,
} from '../../../../core/histogram/bucket-advice.ts';
import { perBucket, type ClassicHistogram } from '../../../../core/histogram/classic-histogram.ts';
import { bucketIntervalText, significant, tickText } from '../../../../core/text/quantities.ts';
import { useWidth } from '../../charts/useWidth.ts';
import { t } from '../../text.ts';

const COLORS: Record<AdvisedPercentile, string> = { p50: 'green', p90: 'blue', p99: 'purple' };

/** The color of a percentile in all drawings of the page. */
export function percentileColor(percentile: AdvisedPercentile, theme: GrafanaTheme2): string {
  return theme.visualization.getColorByName(COLORS[percentile]);
}

/** A bucket as it is drawn; an end that is infinite or 0 lies at the edge of the drawing. */
export interface DrawnBucket {
  low: number;
  high: number;
  count: number;
}

/** The part of a grid with observations, on a logarithmic axis. */
interface PlotScale {
  buckets: DrawnBucket[];
  /** Finite bounds within the drawing. */
  bounds: number[];
  /** Position from 0 to 1; values beyond the drawing lie at its edges. */
  position: (value: number) => number;
}

/** The buckets from the first to the last with observations, and one more on either side. Null: there is no bucket. */
export function plotScale(histogram: ClassicHistogram): PlotScale | null {
  const counts = perBucket(histogram);
  const occupied = counts.flatMap((count, i) => (count > 0 ? [i] : []));
  const [first, last] = [occupied[0], occupied.at(-1)];
  if (first === undefined || last === undefined) {
    return null;
  }
  const buckets = histogram.bounds
    .map((high, i) => ({ low: i === 0 ? 0 : (histogram.bounds[i - 1] ?? 0), high, count: counts[i] ?? 0 }))
    .slice(Math.max(0, first - 1), last + 2);
  const bounds = buckets.flatMap(({ low, high }) => [low, high]).filter((edge) => edge > 0 && Number.isFinite(edge));
  const inside = [...new Set(bounds)].sort((a, b) => a - b);
  const [least = 1, most = 1] = [inside[0], inside.at(-1)];
  // Ends that have no place on a logarithmic axis: the middle of a first bucket is drawn in its middle.
  const step = Math.min(3, inside.length > 1 ? (most / least) ** (1 / (inside.length - 1)) : 2);
  const from = buckets.some(({ low }) => low <= 0) ? least / 4 : least;
  const to = buckets.some(({ high }) => high === Infinity) ? most * step : most;
  const width = Math.log(to / from);
  return {
    buckets,
    bounds: inside,
    position: (value) => (value <= from ? 0 : value >= to ? 1 : Math.log(value / from) / width),
  };
}

/** The bounds whose texts have room, from left to right. `room`: what a text takes, from 0 to 1. */
export function labeledBounds({ bounds, position }: PlotScale, room: number): number[] {
  const shown: number[] = [];
  for (const bound of bounds) {
    const before = shown.at(-1);
    if (before === undefined || position(bound) - position(before) >= room) {
      shown.push(bound);
    }
  }
  return shown;
}

const BARS = 52;
const ROW = 12;
const AXIS = 18;
const LEFT = 30;
/** Half of a bound's text, such as "536,870,912". */
const RIGHT = 36;
/** Room of a bound's text. */
const TEXT_ROOM = 68;

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
