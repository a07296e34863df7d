import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { useStyles2 } from '@grafana/ui';
import React from 'react';

/** Names on the left, their values on the right; an empty value is left out. */
export function TooltipRows({ rows }: { rows: ReadonlyArray<readonly [name: string, text: string]> }) {
  const styles = useStyles2(getStyles);
  return rows
    .filter(([, text]) => text !== '')
    .map(([name, text]) => (
      <div key={name} className={styles.row}>
        <span className={styles.name}>{name}</span>
        <span>{text}</span>
      </div>
    ));
}

const getStyles = (theme: GrafanaTheme2) => ({
  row: css({ display: 'flex', gap: theme.spacing(1), justifyContent: 'space-between' }),
  name: css({ color: theme.colors.text.secondary }),
});
