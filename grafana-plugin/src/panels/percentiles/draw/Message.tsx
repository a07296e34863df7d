import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { useStyles2 } from '@grafana/ui';
import React, { type ReactNode } from 'react';
import type { InputProblem } from '../input/input-problem.ts';
import { t } from '../../../text.ts';

interface MessageProps {
  problems: readonly InputProblem[];
  /** The responses are still to come. */
  loading: boolean;
  /** What the data source says went wrong; empty when nothing did. */
  error: string;
  /** What to ask for instead if only native histograms are stored; null if the queries read these. */
  nativeQuery: string | null;
}

/** Shown when nothing can be drawn: the problem, and the query to use instead. */
export function Message({ problems, loading, error, nativeQuery }: MessageProps) {
  const styles = useStyles2(getMessageStyles);
  if (problems.length === 0 || error) {
    const text = loading ? t('panel.loading', 'Loading …') : t('panel.no-data', 'No data');
    return (
      <div className={styles.center} role="status">
        {error ? (
          <div className={styles.problem}>
            <div className={styles.title}>{t('panel.error', 'The query failed')}</div>
            <div>{error}</div>
          </div>
        ) : (
          <>
            <div>{text}</div>
            {!loading && nativeQuery !== null && (
              <div className={styles.problem}>
                {t('panel.no-data-native', 'If Prometheus stores native histograms only, query {{query}}', {
                  query: nativeQuery,
                })}
              </div>
            )}
          </>
        )}
      </div>
    );
  }
  return (
    <div className={styles.center} role="status">
      {problems.map(({ refId, title, remedy }) => (
        <div key={`${refId}${title}`} className={styles.problem}>
          <div className={styles.title}>
            {refId && `${t('panel.query', 'Query {{refId}}:', { refId })} `}
            {title}
          </div>
          <div>{remedy}</div>
        </div>
      ))}
    </div>
  );
}

/** The same in one line, under a drawing that shows the other queries. */
export function noticeText({ refId, title }: InputProblem): string {
  return refId ? `${t('panel.query-not-drawn', 'Query {{refId}} is not drawn:', { refId })} ${title}` : title;
}

const getMessageStyles = (theme: GrafanaTheme2) => ({
  center: css({
    width: '100%',
    height: '100%',
    overflow: 'auto',
    display: 'flex',
    flexDirection: 'column',
    alignItems: 'center',
    // "safe": what is higher than the panel begins at its top.
    justifyContent: 'safe center',
    gap: theme.spacing(2),
    padding: theme.spacing(2),
    color: theme.colors.text.secondary,
    textAlign: 'center',
    overflowWrap: 'anywhere',
  }),
  problem: css({ maxWidth: 'min(640px, 100%)' }),
  title: css({ color: theme.colors.text.primary, marginBottom: theme.spacing(0.5) }),
});

interface FooterProps {
  height: number;
  problems: readonly InputProblem[];
  notes: string;
  legend: ReactNode;
}

/** Problems, legend and notes below the drawing. It scrolls when space is short, so that no sentence is cut. */
export function Footer({ height, problems, notes, legend }: FooterProps) {
  const styles = useStyles2(getFooterStyles);
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

const getFooterStyles = (theme: GrafanaTheme2) => ({
  footer: css({ overflow: 'auto', flexShrink: 0 }),
  notes: css({
    ...theme.typography.bodySmall,
    color: theme.colors.text.secondary,
    padding: theme.spacing(0.25, 1),
    overflowWrap: 'anywhere',
  }),
  notice: css({ ...theme.typography.bodySmall, color: theme.colors.warning.text, padding: theme.spacing(0.25, 1) }),
});
