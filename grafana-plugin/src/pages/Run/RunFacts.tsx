import { css } from '@emotion/css';
import { dateTimeFormat, type GrafanaTheme2 } from '@grafana/data';
import { t } from '@grafana/i18n';
import { useReturnToPrevious } from '@grafana/runtime';
import { LinkButton, useStyles2 } from '@grafana/ui';
import React from 'react';
import { useLocation } from 'react-router-dom';
import { usePage } from '../../app/page-context.ts';
import { benchmarkDashboardUrl, serverDashboardUrl } from '../../components/dashboard-link.ts';
import { durationText } from '../../components/duration-text.ts';
import { StatusBadge } from '../../components/StatusBadge.tsx';
import type { RunSummary } from '../../exporter-api/types.ts';

/** What the run is, and the way to the dashboards at its time. */
export function RunFacts({ run }: { run: RunSummary }) {
  const styles = useStyles2(getStyles);
  const { prometheus, time } = usePage();
  const { pathname, search } = useLocation();
  const setReturn = useReturnToPrevious();
  const goBackHere = () => setReturn(t('run.return', 'the run'), `${pathname}${search}`);
  const facts = [
    run.scenario,
    run.model,
    [run.system, run.system_version].filter(Boolean).join(' '),
    run.load,
    run.start === null ? '' : dateTimeFormat(run.start),
    run.duration_seconds === null ? '' : durationText(run.duration_seconds),
    `${run.tool} ${run.tool_version}`,
  ].filter((fact) => fact !== '');
  const serverUrl = serverDashboardUrl(run.system, { time, prometheus, runId: run.run_id });
  return (
    <div className={styles.row}>
      <StatusBadge status={run.status} failure={run.failure} />
      <span className={styles.facts}>{facts.join(' · ')}</span>
      <span className={styles.links}>
        <LinkButton
          size="sm"
          variant="secondary"
          icon="apps"
          href={benchmarkDashboardUrl({ time, prometheus, runId: run.run_id })}
          onClick={goBackHere}
        >
          {t('run.benchmark-dashboard', 'Benchmark dashboard')}
        </LinkButton>
        {serverUrl && (
          <LinkButton size="sm" variant="secondary" icon="apps" href={serverUrl} onClick={goBackHere}>
            {t('run.server-dashboard', 'Server dashboard')}
          </LinkButton>
        )}
      </span>
    </div>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  row: css({ display: 'flex', flexWrap: 'wrap', alignItems: 'center', gap: theme.spacing(1) }),
  facts: css({ color: theme.colors.text.secondary }),
  links: css({ marginLeft: 'auto', display: 'flex', gap: theme.spacing(1) }),
});
