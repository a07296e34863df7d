import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { useStyles2 } from '@grafana/ui';
import React, { type ReactNode } from 'react';

interface Props {
  title: string;
  /** One line under the title. */
  description?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** A titled part of a page, in the frame of Grafana's panels. */
export function Section({ title, description, actions, children }: Props) {
  const styles = useStyles2(getStyles);
  return (
    <section className={styles.section} aria-label={title}>
      <div className={styles.head}>
        <h2 className={styles.title}>{title}</h2>
        {actions && <div className={styles.actions}>{actions}</div>}
      </div>
      {description != null && <p className={styles.description}>{description}</p>}
      {children}
    </section>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  section: css({
    background: theme.colors.background.primary,
    border: `1px solid ${theme.colors.border.weak}`,
    borderRadius: theme.shape.radius.default,
    padding: theme.spacing(1.5, 2, 2),
    minWidth: 0,
    '> p:last-child': { marginBottom: 0 },
  }),
  head: css({ display: 'flex', alignItems: 'center', gap: theme.spacing(2), minHeight: theme.spacing(4) }),
  title: css({ ...theme.typography.h5, margin: 0 }),
  actions: css({ marginLeft: 'auto', display: 'flex', flexWrap: 'wrap', gap: theme.spacing(1), alignItems: 'center' }),
  description: css({
    ...theme.typography.bodySmall,
    color: theme.colors.text.secondary,
    margin: theme.spacing(0, 0, 1.5),
    maxWidth: 960,
  }),
});
