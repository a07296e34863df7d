import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { useStyles2 } from '@grafana/ui';
import React from 'react';
import type { Scale } from '../../../core/chart/scale.ts';
import { ABSENT } from '../../../core/text/quantities.ts';
import { TooltipBox } from './TooltipBox.tsx';
import { valueAt, type Write, type XySeries } from './xy-series.ts';

interface Props {
  /** Pixels from the chart's left edge. */
  pointer: number;
  width: number;
  x: Scale;
  series: readonly XySeries[];
  xText: Write;
  yText: Write;
}

const WIDTH = 260;

/** The values of all lines at the pointer. Points are omitted: there are too many. */
export function ChartTooltip({ pointer, width, x, series, xText, yText }: Props) {
  const styles = useStyles2(getStyles);
  const at = x.invert(pointer);
  const rows = series
    .filter(({ kind, secondary }) => kind !== 'points' && !secondary)
    .map((one) => ({ ...one, value: valueAt(one, at) }));
  if (rows.length === 0) {
    return null;
  }
  return (
    <TooltipBox pointer={pointer} width={width} boxWidth={WIDTH}>
      <div className={styles.head}>{xText(at)}</div>
      {rows.map(({ name, color, value }) => (
        <div key={name} className={styles.row}>
          <span className={styles.dot} style={{ background: color }} />
          <span className={styles.name}>{name}</span>
          <span>{value === null ? ABSENT : yText(value)}</span>
        </div>
      ))}
    </TooltipBox>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  head: css({ color: theme.colors.text.secondary }),
  row: css({ display: 'flex', alignItems: 'center', gap: theme.spacing(0.75) }),
  dot: css({ width: 8, height: 8, borderRadius: theme.shape.radius.circle, flexShrink: 0 }),
  name: css({ flex: 1, overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap' }),
});
