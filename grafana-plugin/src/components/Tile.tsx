import { css, cx } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { Icon, Tooltip, useStyles2 } from '@grafana/ui';
import React, { type ReactNode } from 'react';

interface Props {
  label: string;
  value: ReactNode;
  /** One line under the value. */
  detail?: ReactNode;
  /** Definition of the value. */
  meaning?: string;
  mood?: 'good' | 'bad' | 'warning';
}

/** A key number with its meaning. */
export function Tile({ label, value, detail, meaning, mood }: Props) {
  const styles = useStyles2(getStyles);
  return (
    <div className={styles.tile} role="group" aria-label={label}>
      <div className={styles.label}>
        {label}
        {meaning && (
          <Tooltip content={meaning}>
            <button type="button" className={styles.meaning} aria-label={[label, meaning].join(': ')}>
              <Icon name="info-circle" size="sm" />
            </button>
          </Tooltip>
        )}
      </div>
      <div className={cx(styles.value, mood && styles[mood])}>{value}</div>
      {detail && <div className={styles.detail}>{detail}</div>}
    </div>
  );
}

/** A row of tiles that wraps. */
export function Tiles({ children }: { children: ReactNode }) {
  return <div className={useStyles2(getStyles).tiles}>{children}</div>;
}

const getStyles = (theme: GrafanaTheme2) => ({
  tiles: css({
    display: 'grid',
    // Seven tiles that do not fit in one row wrap into rows of four and three rather than six and one.
    gridTemplateColumns: 'repeat(auto-fit, minmax(clamp(168px, (1224px - 100%) * 1000, 230px), 1fr))',
    gap: theme.spacing(1),
  }),
  tile: css({
    background: theme.colors.background.primary,
    border: `1px solid ${theme.colors.border.weak}`,
    borderRadius: theme.shape.radius.default,
    padding: theme.spacing(1, 1.5, 1.25),
    minWidth: 0,
  }),
  label: css({
    ...theme.typography.bodySmall,
    color: theme.colors.text.secondary,
    display: 'flex',
    alignItems: 'center',
    gap: theme.spacing(0.5),
  }),
  meaning: css({ background: 'none', border: 'none', padding: 0, color: 'inherit', lineHeight: 1, cursor: 'help' }),
  value: css({
    fontSize: theme.typography.h3.fontSize,
    fontWeight: theme.typography.fontWeightMedium,
    fontVariantNumeric: 'tabular-nums',
    lineHeight: 1.3,
    overflowWrap: 'anywhere',
  }),
  detail: css({ ...theme.typography.bodySmall, color: theme.colors.text.secondary }),
  good: css({ color: theme.colors.success.text }),
  bad: css({ color: theme.colors.error.text }),
  warning: css({ color: theme.colors.warning.text }),
});
