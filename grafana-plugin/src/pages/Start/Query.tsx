import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { ClipboardButton, useStyles2 } from '@grafana/ui';
import React from 'react';

/** A query to copy. */
export function Query({ text }: { text: string }) {
  const styles = useStyles2(getStyles);
  return (
    <span className={styles.row}>
      <code className={styles.code}>{text}</code>
      <ClipboardButton getText={() => text} variant="secondary" size="sm" icon="copy">
        Copy
      </ClipboardButton>
    </span>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  row: css({ display: 'flex', alignItems: 'center', gap: theme.spacing(1), marginTop: theme.spacing(0.5) }),
  code: css({ padding: theme.spacing(0.5, 1), whiteSpace: 'normal', wordBreak: 'break-word' }),
});
