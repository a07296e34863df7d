import { css } from '@emotion/css';
import { dateTimeFormat, type GrafanaTheme2 } from '@grafana/data';
import type { TimeZone } from '@grafana/schema';
import { Portal, useStyles2, VizTooltipContainer } from '@grafana/ui';
import React from 'react';
import type { RunRegion } from '../input/run-regions.ts';
import type { PercentileLine } from './lines.ts';
import { pointAt } from './point-at.ts';
import { Swatch } from './Swatch.tsx';
import { estimateText, intervalText, type ValueFormat } from './value-text.ts';

interface Props {
  timeMs: number;
  /** Position in the window. */
  position: { x: number; y: number };
  lines: readonly PercentileLine[];
  regions: readonly RunRegion[];
  format: ValueFormat;
  timeZone: TimeZone;
}

/** The percentiles at one time, with their intervals and the span of time that they cover. */
export function Tooltip({ timeMs, position, lines, regions, format, timeZone }: Props) {
  const styles = useStyles2(getStyles);
  const rows = lines.flatMap((line) => {
    const point = pointAt(line.series, timeMs);
    const percentile = point?.percentiles[line.index];
    return point && percentile ? [{ line, point, percentile }] : [];
  });
  const point = rows[0]?.point;
  const inside = regions.filter(({ startMs, endMs, title }) => title && startMs <= timeMs && timeMs <= endMs);
  const reset = rows.some((row) => row.point.reset);
  const time = (value: number) => dateTimeFormat(value, { timeZone, format: 'HH:mm:ss' });
  return (
    <Portal>
      <VizTooltipContainer position={position} offset={{ x: 12, y: 12 }}>
        <div className={styles.tooltip} data-testid="percentiles tooltip">
          <div className={styles.time}>{dateTimeFormat(point?.endMs ?? timeMs, { timeZone })}</div>
          {inside.map(({ title }, i) => (
            <div key={i} className={styles.note}>
              {title}
            </div>
          ))}
          {rows.length === 0 && <div className={styles.note}>Nothing was observed here</div>}
          <table>
            <tbody>
              {rows.map(({ line, percentile, point }) => (
                <tr key={line.key}>
                  <td>
                    <Swatch line={line} />
                  </td>
                  <td>{line.name}</td>
                  <td className={styles.estimate}>{estimateText(percentile, format)}</td>
                  <td className={styles.number}>{intervalText(percentile, format)}</td>
                  <td className={styles.number}>{point.n === null ? '' : `n = ${point.n}`}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {rows.some(({ line }) => !line.series.source.trueCounts) && (
            <div className={styles.note}>Interval: bucket of the estimate, not a bound</div>
          )}
          {point && point.n !== null && (
            <div className={styles.note}>
              Counted from {time(point.startMs)} to {time(point.endMs)}
            </div>
          )}
          {reset && (
            <div className={styles.note}>The counters were reset here: what they counted just before is lost</div>
          )}
        </div>
      </VizTooltipContainer>
    </Portal>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  tooltip: css({
    ...theme.typography.bodySmall,
    fontVariantNumeric: 'tabular-nums',
    td: { padding: theme.spacing(0.25, 0.75, 0.25, 0), whiteSpace: 'nowrap' },
  }),
  time: css({ fontWeight: theme.typography.fontWeightMedium, marginBottom: theme.spacing(0.5) }),
  estimate: css({ textAlign: 'right', fontWeight: theme.typography.fontWeightMedium }),
  number: css({ textAlign: 'right', color: theme.colors.text.secondary }),
  note: css({ color: theme.colors.text.secondary }),
});
