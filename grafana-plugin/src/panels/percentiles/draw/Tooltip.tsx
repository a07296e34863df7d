import { css } from '@emotion/css';
import { dateTimeFormat, type GrafanaTheme2 } from '@grafana/data';
import { t } from '@grafana/i18n';
import type { TimeZone } from '@grafana/schema';
import { Portal, useStyles2, VizTooltipContainer } from '@grafana/ui';
import React from 'react';
import type { RunRegion } from '../input/run-regions.ts';
import type { GivenShape } from './given-shapes.ts';
import { GivenSwatch, Swatch } from './Swatch.tsx';
import type { PercentileLine } from './lines.ts';
import { PLAIN_TEXT } from './plain-text.ts';
import { tooltipNotes } from './tooltip-notes.ts';
import { givenRows, tooltipRows } from './tooltip-rows.ts';
import { estimateText, intervalText, rankBucketText, type ValueFormat } from './value-text.ts';

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
  /** Position in the window. */
  position: { x: number; y: number };
}

/** The percentiles at one time, with their intervals and the span of time that they cover. */
export function Tooltip({ timeMs, value, position, lines, given, regions, slo, format, timeZone }: Props) {
  const styles = useStyles2(getStyles);
  const { rows, left } = tooltipRows(lines, timeMs, value);
  const ready = givenRows(given, timeMs);
  const inside = regions.filter(({ startMs, endMs, title }) => title && startMs <= timeMs && timeMs <= endMs);
  const withCounts = rows.some(({ point }) => point.n !== null);
  return (
    <Portal>
      <VizTooltipContainer position={position} offset={{ x: 12, y: 12 }}>
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
                    <td className={styles.number}>
                      {point.n === null ? '' : `n = ${point.n.toLocaleString('en-US')}`}
                    </td>
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
                ...PLAIN_TEXT,
              })}
            </div>
          )}
          {tooltipNotes(rows, slo, format, timeZone).map((note) => (
            <div key={note} className={styles.note}>
              {note}
            </div>
          ))}
        </div>
      </VizTooltipContainer>
    </Portal>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  tooltip: css({
    ...theme.typography.bodySmall,
    fontVariantNumeric: 'tabular-nums',
    maxWidth: 620,
    'td, th': { padding: theme.spacing(0.25, 1, 0.25, 0), whiteSpace: 'nowrap', textAlign: 'right' },
    th: { fontWeight: theme.typography.fontWeightRegular },
  }),
  time: css({ fontWeight: theme.typography.fontWeightMedium, marginBottom: theme.spacing(0.5) }),
  name: css({ '&&': { textAlign: 'left', maxWidth: 220, overflow: 'hidden', textOverflow: 'ellipsis' } }),
  estimate: css({ fontWeight: theme.typography.fontWeightMedium }),
  number: css({ color: theme.colors.text.secondary }),
  note: css({ color: theme.colors.text.secondary }),
});
