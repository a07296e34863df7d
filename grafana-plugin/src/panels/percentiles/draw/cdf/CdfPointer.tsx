import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { t } from '@grafana/i18n';
import { Portal, useStyles2, VizTooltipContainer } from '@grafana/ui';
import React, { type PointerEvent, useState } from 'react';
import type { Scale } from '../../../../../../core/chart/scale.ts';
import { sloShare } from '../../compute/percentile-series.ts';
import type { PercentileLine } from '../lines.ts';
import { percentText, shareText, PLAIN_TEXT, type ValueFormat } from '../value-text.ts';
import { PointerArea } from '../PointerLayer.tsx';

interface Props {
  width: number;
  height: number;
  x: Scale;
  y: Scale;
  /** One per distribution. */
  series: ReadonlyArray<{ line: PercentileLine; color: string }>;
  format: ValueFormat;
}

const MAX_ROWS = 12;

/** The share of each distribution at or below the value under the pointer. */
export function CdfPointer({ width, height, x, y, series, format }: Props) {
  const styles = useStyles2(getStyles);
  const [pointer, setPointer] = useState<{ x: number; clientX: number; clientY: number } | null>(null);
  const [left] = x.range;
  const value = pointer === null ? NaN : x.invert(pointer.x);
  const move = ({ currentTarget, clientX, clientY }: PointerEvent<SVGRectElement>) =>
    setPointer({ x: left + clientX - currentTarget.getBoundingClientRect().left, clientX, clientY });
  const rows =
    pointer === null
      ? []
      : series.slice(0, MAX_ROWS).flatMap(({ line, color }) => {
          const share = sloShare(line.series, value);
          return share ? [{ line, color, share }] : [];
        });
  return (
    <PointerArea
      width={width}
      height={height}
      x={x}
      y={y}
      crosshair={pointer && pointer.x}
      onPointerMove={move}
      onPointerLeave={() => setPointer(null)}
    >
      {pointer && (
        <Portal>
          <VizTooltipContainer position={{ x: pointer.clientX, y: pointer.clientY }} offset={{ x: 12, y: 12 }}>
            <div className={styles.tooltip} data-testid="percentiles tooltip">
              <div className={styles.head}>
                {t('panel.cdf.at-or-below', 'At or below {{value}}', { value: format(value), ...PLAIN_TEXT })}
              </div>
              {rows.map(({ line, color, share }) => (
                <div key={line.key} className={styles.row}>
                  <span className={styles.dot} style={{ background: color }} />
                  <span className={styles.name}>{line.seriesName}</span>
                  <b>{shareText(share)}</b>
                  {share.certain && share.low !== share.high && (
                    <span>
                      {t('panel.cdf.estimate', '(estimate {{share}})', {
                        share: percentText(share.estimate),
                        ...PLAIN_TEXT,
                      })}
                    </span>
                  )}
                  {line.series.range?.n != null && <span>{`n = ${line.series.range.n.toLocaleString('en-US')}`}</span>}
                </div>
              ))}
            </div>
          </VizTooltipContainer>
        </Portal>
      )}
    </PointerArea>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  tooltip: css({ ...theme.typography.bodySmall, fontVariantNumeric: 'tabular-nums' }),
  head: css({ fontWeight: theme.typography.fontWeightMedium, marginBottom: theme.spacing(0.5) }),
  row: css({ display: 'flex', alignItems: 'center', gap: theme.spacing(1), whiteSpace: 'nowrap' }),
  dot: css({ width: 10, height: 10, borderRadius: 5, flexShrink: 0 }),
  name: css({ flexGrow: 1 }),
});
