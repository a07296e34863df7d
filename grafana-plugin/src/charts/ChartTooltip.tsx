import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { Portal, SeriesTable, useStyles2, VizTooltipContainer } from '@grafana/ui';
import React, { type ReactNode } from 'react';
import type { Scale } from '../../../core/chart/scale.ts';
import { ABSENT } from '../../../core/text/quantities.ts';
import type { Pointer } from './PointerArea.tsx';
import { valueAt, type Write, type XySeries } from './xy-series.ts';

/** Pixels from the edges of the window. */
export interface WindowPlace {
  x: number;
  y: number;
}

interface TooltipBoxProps {
  at: WindowPlace;
  role?: 'status';
  children: ReactNode;
}

const OFFSET = { x: 12, y: 12 };

/** A box beside a place in the window, above everything and within the window. */
export function TooltipBox({ at, role, children }: TooltipBoxProps) {
  const styles = useStyles2(getTooltipBoxStyles);
  return (
    <Portal>
      <VizTooltipContainer position={at} offset={OFFSET} className={styles.box} {...(role && { role })}>
        {children}
      </VizTooltipContainer>
    </Portal>
  );
}

const getTooltipBoxStyles = (theme: GrafanaTheme2) => ({
  box: css({ ...theme.typography.bodySmall, fontVariantNumeric: 'tabular-nums', maxWidth: 620 }),
});

interface ChartTooltipProps {
  pointer: Pointer;
  x: Scale;
  series: readonly XySeries[];
  xText: Write;
  yText: Write;
}

/** The values of all lines at the pointer. Points are omitted: there are too many. */
export function ChartTooltip({ pointer, x, series, xText, yText }: ChartTooltipProps) {
  const at = x.invert(pointer.x);
  const rows = series
    .filter(({ kind, secondary }) => kind !== 'points' && !secondary)
    .map((one) => ({ color: one.color, label: one.name, value: valueText(valueAt(one, at), yText) }));
  return rows.length === 0 ? null : (
    <TooltipBox at={{ x: pointer.clientX, y: pointer.clientY }}>
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
