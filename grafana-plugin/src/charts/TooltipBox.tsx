import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { useStyles2 } from '@grafana/ui';
import React, { type ReactNode } from 'react';

interface Props {
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
export function TooltipBox({ pointer, width, boxWidth, role, children }: Props) {
  const styles = useStyles2(getStyles);
  const left = pointer + GAP + boxWidth > width ? Math.max(0, pointer - GAP - boxWidth) : pointer + GAP;
  return (
    <div className={styles.box} style={{ left, width: boxWidth }} role={role}>
      {children}
    </div>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
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
