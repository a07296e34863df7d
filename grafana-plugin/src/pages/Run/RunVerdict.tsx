import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { t } from '@grafana/i18n';
import { TextLink, useStyles2 } from '@grafana/ui';
import React from 'react';
import { useLocation } from 'react-router-dom';
import { verdictUrl } from '../../components/run-link.ts';
import { VerdictBadge } from '../../components/VerdictBadge.tsx';
import type { RunSummary } from '../../../../core/api/runs.ts';

/** The newest verdict of `llmbench check` on the run, with a link to its evidence; nothing for a run that was not judged. */
export function RunVerdict({ run }: { run: RunSummary }) {
  const styles = useStyles2(getStyles);
  const { search } = useLocation();
  // An exporter from before runs had verdicts leaves the member out.
  if (!run.verdict) {
    return null;
  }
  const { verdict, sentence } = run.verdict;
  const url = verdictUrl(run.verdict, search);
  return (
    <section className={styles.verdict} aria-label={t('run.verdict', 'Verdict')}>
      <VerdictBadge verdict={verdict} />
      <span>{sentence}</span>
      {url !== null && <TextLink href={url}>{t('run.compare', 'Compare with the baseline')}</TextLink>}
    </section>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  verdict: css({ display: 'flex', flexWrap: 'wrap', alignItems: 'center', gap: theme.spacing(1), margin: 0 }),
});
