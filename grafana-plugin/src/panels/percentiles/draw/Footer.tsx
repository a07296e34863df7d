import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { useStyles2 } from '@grafana/ui';
import React, { type ReactNode } from 'react';
import type { InputProblem } from '../input/input-problem.ts';
import { noticeText } from './Message.tsx';

interface Props {
  height: number;
  problems: readonly InputProblem[];
  notes: string;
  legend: ReactNode;
}

/** Problems, legend and notes below the drawing. It scrolls when space is short, so that no sentence is cut. */
export function Footer({ height, problems, notes, legend }: Props) {
  const styles = useStyles2(getStyles);
  return (
    <div className={styles.footer} style={{ height }}>
      {problems.length > 0 && (
        <div className={styles.notice} role="status">
          {problems.map((problem) => (
            <div key={`${problem.refId}${problem.title}`} title={problem.remedy}>
              {noticeText(problem)}
            </div>
          ))}
        </div>
      )}
      {legend}
      {notes && (
        <div className={styles.notes} data-testid="percentiles notes">
          {notes}
        </div>
      )}
    </div>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  footer: css({ overflow: 'auto', flexShrink: 0 }),
  notes: css({
    ...theme.typography.bodySmall,
    color: theme.colors.text.secondary,
    padding: theme.spacing(0.25, 1),
    overflowWrap: 'anywhere',
  }),
  notice: css({ ...theme.typography.bodySmall, color: theme.colors.warning.text, padding: theme.spacing(0.25, 1) }),
});
