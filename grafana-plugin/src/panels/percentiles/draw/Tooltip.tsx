import { dateTimeFormat, type GrafanaTheme2 } from '@grafana/data';
import type { TimeZone } from '@grafana/schema';
import { css } from '@emotion/css';
import { useStyles2 } from '@grafana/ui';
import React from 'react';
import { fractionBelow } from '../../../../../core/histogram/bounds.ts';
import { TooltipBox, type WindowPlace } from '../../../charts/ChartTooltip.tsx';
import type { PercentilePoint } from '../compute/percentile-points.ts';
import type { PercentileSeries } from '../compute/percentile-series.ts';
import { samplingInterval, type Percentile } from '../compute/percentile.ts';
import type { RunRegion } from '../input/run-regions.ts';
import { GivenSwatch, Swatch } from './Swatch.tsx';
import { givenAt, type GivenShape, type PercentileLine } from './lines.ts';
import { shareText, intervalText, estimateText, rankBucketText, type ValueFormat } from './value-text.ts';
import { t } from '../../../text.ts';

interface TooltipRow {
  line: PercentileLine;
  point: PercentilePoint;
  percentile: Percentile;
}

export interface GivenRow {
  shape: GivenShape;
  value: number;
}

/** A longer tooltip would not fit on the screen; it lists the lines nearest to the pointer. */
export const MAX_ROWS = 12;

/** The percentiles that are drawn at a time, in order of the lines; of many, the nearest to `value`. */
function tooltipRows(
  lines: readonly PercentileLine[],
  timeMs: number,
  value: number
): { rows: TooltipRow[]; left: number } {
  const all = lines.flatMap((line) => {
    const point = pointAt(line.series, timeMs);
    const percentile = point?.percentiles[line.index];
    return point && percentile ? [{ line, point, percentile }] : [];
  });
  if (all.length <= MAX_ROWS) {
    return { rows: all, left: 0 };
  }
  const distance = ({ percentile }: TooltipRow) => Math.abs(percentile.estimate - value);
  const nearest = new Set([...all].sort((a, b) => distance(a) - distance(b)).slice(0, MAX_ROWS));
  return { rows: all.filter((row) => nearest.has(row)), left: all.length - MAX_ROWS };
}

/** The point that is drawn at a time, or null where nothing is. */
function pointAt(series: PercentileSeries, timeMs: number): PercentilePoint | null {
  const { points, source } = series;
  if (source.kind === 'total') {
    return points.at(0) ?? null;
  }
  let low = 0;
  let high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((points.endMs[middle] ?? Infinity) >= timeMs) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  const starts = (points.endMs[low] ?? NaN) - source.stepMs < timeMs;
  return starts ? (points.at(low) ?? null) : null;
}

function givenRows(shapes: readonly GivenShape[], timeMs: number): GivenRow[] {
  return shapes.flatMap((shape) => {
    const value = givenAt(shape.line, timeMs);
    return value === null || !Number.isFinite(value) ? [] : [{ shape, value }];
  });
}

/** With more lines these would be a wall of text. */
const MAX_SAMPLING_NOTES = 4;

/** What has to be known besides the numbers at one time: what they cover, chance, the objective, resets, the sum. */
function tooltipNotes(
  rows: readonly TooltipRow[],
  slo: number | undefined,
  format: ValueFormat,
  timeZone: TimeZone
): string[] {
  const [first] = rows;
  if (!first) {
    return [];
  }
  const { point } = first;
  const time = (value: number) => dateTimeFormat(value, { timeZone, format: 'HH:mm:ss' });
  const notes: string[] = [];
  if (rows.some(({ line }) => !line.series.source.trueCounts)) {
    notes.push(t('panel.tooltip.rates', 'Interval: bucket of the estimate, not a bound'));
  }
  if (point.n !== null) {
    const span = { from: time(point.startMs), to: time(point.endMs) };
    notes.push(t('panel.tooltip.span', 'Counted from {{from}} to {{to}}', span));
    notes.push(...samplingNotes(rows, format));
  }
  if (slo !== undefined) {
    const share = fractionBelow(slo, first.line.series.histogramOf(point));
    const alone = rows.every(({ line }) => line.series === first.line.series);
    if (share && alone) {
      const text = shareText({ ...share, certain: first.line.series.source.trueCounts });
      notes.push(t('panel.tooltip.slo', 'At or below {{slo}}: {{share}}', { slo: format(slo), share: text }));
    }
  }
  if (rows.some(({ percentile }) => percentile.narrowed)) {
    notes.push(t('panel.tooltip.narrowed', 'The bounds are narrowed by the sum of the values'));
  }
  if (rows.some((row) => row.point.reset)) {
    notes.push(t('panel.tooltip.reset', 'Counter reset: observations since the last sample before it are lost'));
  }
  return notes;
}

function samplingNotes(rows: readonly TooltipRow[], format: ValueFormat): string[] {
  if (rows.length > MAX_SAMPLING_NOTES) {
    return [];
  }
  const parts = rows.flatMap(({ line, point, percentile }) => {
    const { series } = line;
    const interval =
      point.n === null
        ? null
        : samplingInterval(percentile.quantile, series.histogramOf(point), series.source.exponential);
    return interval ? [`${line.name} ${intervalText(interval, format)}`] : [];
  });
  const text = { intervals: parts.join(', ') };
  return parts.length === 0
    ? []
    : [t('panel.tooltip.sampling', 'Sampling interval (95 %, assuming independent requests): {{intervals}}', text)];
}

/** What the pointer can read in the drawing. */
export interface Reading {
  lines: readonly PercentileLine[];
  given: readonly GivenShape[];
  regions: readonly RunRegion[];
  slo: number | undefined;
  format: ValueFormat;
  timeZone: TimeZone;
}

interface Props extends Reading {
  timeMs: number;
  /** Under the pointer, in the unit of the metric. */
  value: number;
  at: WindowPlace;
}

/** The percentiles at one time, with their intervals and the span of time that they cover. */
export function Tooltip({ timeMs, value, at, lines, given, regions, slo, format, timeZone }: Props) {
  const styles = useStyles2(getStyles);
  const { rows, left } = tooltipRows(lines, timeMs, value);
  const ready = givenRows(given, timeMs);
  const inside = regions.filter(({ startMs, endMs, title }) => title && startMs <= timeMs && timeMs <= endMs);
  const withCounts = rows.some(({ point }) => point.n !== null);
  return (
    <TooltipBox at={at}>
      <div className={styles.tooltip} data-testid="percentiles tooltip">
        <div className={styles.time}>{dateTimeFormat(rows[0]?.point.endMs ?? timeMs, { timeZone })}</div>
        {inside.map(({ title }, i) => (
          <div key={i} className={styles.note}>
            {title}
          </div>
        ))}
        {rows.length === 0 && ready.length === 0 && (
          <div className={styles.note}>{t('panel.tooltip.nothing', 'No observations')}</div>
        )}
        <table>
          {rows.length > 0 && (
            <thead>
              <tr className={styles.note}>
                <th colSpan={2} />
                <th>{t('panel.tooltip.estimate', 'Estimate')}</th>
                <th>{withCounts ? t('panel.tooltip.bounds', 'Bounds') : t('panel.tooltip.interval', 'Interval')}</th>
                <th>{t('panel.tooltip.bucket', 'Bucket of the rank')}</th>
                {withCounts && <th />}
              </tr>
            </thead>
          )}
          <tbody>
            {rows.map(({ line, percentile, point }) => (
              <tr key={line.key}>
                <td>
                  <Swatch line={line} />
                </td>
                <td className={styles.name}>{line.name}</td>
                <td className={styles.estimate}>{estimateText(percentile, format)}</td>
                <td className={styles.number}>{intervalText(percentile, format)}</td>
                <td className={styles.number}>{rankBucketText(percentile, line.series.source.bounds, format)}</td>
                {withCounts && (
                  <td className={styles.number}>{point.n === null ? '' : `n = ${point.n.toLocaleString('en-US')}`}</td>
                )}
              </tr>
            ))}
            {ready.map(({ shape, value: given }) => (
              <tr key={shape.key}>
                <td>
                  <GivenSwatch color={shape.color} />
                </td>
                <td className={styles.name}>{shape.name}</td>
                <td className={styles.estimate}>{format(given)}</td>
              </tr>
            ))}
          </tbody>
        </table>
        {left > 0 && (
          <div className={styles.note}>
            {t('panel.tooltip.more', '{{lines}} more lines farther from the pointer', {
              lines: left,
            })}
          </div>
        )}
        {tooltipNotes(rows, slo, format, timeZone).map((note) => (
          <div key={note} className={styles.note}>
            {note}
          </div>
        ))}
      </div>
    </TooltipBox>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  tooltip: css({
    'td, th': { padding: theme.spacing(0.25, 1, 0.25, 0), whiteSpace: 'nowrap', textAlign: 'right' },
    th: { fontWeight: theme.typography.fontWeightRegular },
  }),
  time: css({ fontWeight: theme.typography.fontWeightMedium, marginBottom: theme.spacing(0.5) }),
  name: css({ '&&': { textAlign: 'left', maxWidth: 220, overflow: 'hidden', textOverflow: 'ellipsis' } }),
  estimate: css({ fontWeight: theme.typography.fontWeightMedium }),
  number: css({ color: theme.colors.text.secondary }),
  note: css({ color: theme.colors.text.secondary }),
});
