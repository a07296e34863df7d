import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { useStyles2 } from '@grafana/ui';
import React from 'react';
import type { InputProblem } from '../input/input-problem.ts';

/** What stands in the panel's place when nothing can be drawn: what is wrong, and which query to write. */
export function Message({ problems }: { problems: readonly InputProblem[] }) {
  const styles = useStyles2(getStyles);
  if (problems.length === 0) {
    return <div className={styles.center}>No data</div>;
  }
  return (
    <div className={styles.center} role="status">
      {problems.map(({ refId, title, remedy }) => (
        <div key={`${refId}${title}`} className={styles.problem}>
          <div className={styles.title}>
            {refId && `Query ${refId}: `}
            {title}
          </div>
          <div>{remedy}</div>
        </div>
      ))}
    </div>
  );
}

/** The same in one line, under a drawing that shows the other queries. */
export function Notice({ problems }: { problems: readonly InputProblem[] }) {
  const styles = useStyles2(getStyles);
  return (
    <div className={styles.notice} role="status">
      {problems.map(({ refId, title, remedy }) => (
        <div key={`${refId}${title}`} title={remedy}>
          {refId && `Query ${refId} is not drawn: `}
          {title}
        </div>
      ))}
    </div>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  center: css({
    width: '100%',
    height: '100%',
    overflow: 'auto',
    display: 'flex',
    flexDirection: 'column',
    alignItems: 'center',
    justifyContent: 'center',
    gap: theme.spacing(2),
    padding: theme.spacing(2),
    color: theme.colors.text.secondary,
    textAlign: 'center',
  }),
  problem: css({ maxWidth: 640 }),
  title: css({ color: theme.colors.text.primary, marginBottom: theme.spacing(0.5) }),
  notice: css({ ...theme.typography.bodySmall, color: theme.colors.warning.text, padding: theme.spacing(0.25, 1) }),
});
