import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { SeriesTable, useStyles2 } from '@grafana/ui';
import React, { type ReactNode } from 'react';
import type { Scale } from '../../../core/chart/scale.ts';
import { ABSENT } from '../../../core/text/quantities.ts';
import { valueAt, type Write, type XySeries } from './xy-series.ts';

interface TooltipBoxProps {
  /** Pixels from the chart's left edge. */
  pointer: number;
  /** Pixels of the chart. */
  width: number;
  /** Pixels of the box. */
  boxWidth: number;
  role?: 'status';
  children: ReactNode;
}

const GAP = 12;

/** A box beside the pointer, to its left where the right has no place for it. */
export function TooltipBox({ pointer, width, boxWidth, role, children }: TooltipBoxProps) {
  const styles = useStyles2(getTooltipBoxStyles);
  const left = pointer + GAP + boxWidth > width ? Math.max(0, pointer - GAP - boxWidth) : pointer + GAP;
  return (
    <div className={styles.box} style={{ left, width: boxWidth }} role={role}>
      {children}
    </div>
  );
}

const getTooltipBoxStyles = (theme: GrafanaTheme2) => ({
  box: css({
    ...theme.typography.bodySmall,
    position: 'absolute',
    top: 12,
    pointerEvents: 'none',
    background: theme.colors.background.elevated,
    border: `1px solid ${theme.colors.border.weak}`,
    borderRadius: theme.shape.radius.default,
    boxShadow: theme.shadows.z2,
    padding: theme.spacing(0.75, 1),
    zIndex: theme.zIndex.tooltip,
    fontVariantNumeric: 'tabular-nums',
  }),
});

interface ChartTooltipProps {
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
export function ChartTooltip({ pointer, width, x, series, xText, yText }: ChartTooltipProps) {
  const at = x.invert(pointer);
  const rows = series
    .filter(({ kind, secondary }) => kind !== 'points' && !secondary)
    .map((one) => ({ color: one.color, label: one.name, value: valueText(valueAt(one, at), yText) }));
  return rows.length === 0 ? null : (
    <TooltipBox pointer={pointer} width={width} boxWidth={WIDTH}>
      <SeriesTable timestamp={xText(at)} series={rows} />
    </TooltipBox>
  );
}

const valueText = (value: number | null, text: Write) => (value === null ? ABSENT : text(value));

/** Names on the left, their values on the right; an empty value is left out. */
export function TooltipRows({ rows }: { rows: ReadonlyArray<readonly [name: string, text: string]> }) {
  const styles = useStyles2(getTooltipRowsStyles);
  return rows
    .filter(([, text]) => text !== '')
    .map(([name, text]) => (
      <div key={name} className={styles.row}>
        <span className={styles.name}>{name}</span>
        <span>{text}</span>
      </div>
    ));
}

const getTooltipRowsStyles = (theme: GrafanaTheme2) => ({
  row: css({ display: 'flex', gap: theme.spacing(1), justifyContent: 'space-between' }),
  name: css({ color: theme.colors.text.secondary }),
});
