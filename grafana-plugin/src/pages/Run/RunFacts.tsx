import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { useReturnToPrevious } from '@grafana/runtime';
import { ClipboardButton, LinkButton, useStyles2 } from '@grafana/ui';
import React, { useEffect } from 'react';
import { useLocation } from 'react-router-dom';
import { usePage } from '../../hooks/page-context.ts';
import { benchmarkDashboardUrl, serverDashboardUrl, useNativeDashboards } from '../../components/dashboard-link.ts';
import { durationText } from '../../charts/time-text.ts';
import { runTitle } from '../../components/run-link.ts';
import { StatusBadge } from '../../components/Badges.tsx';
import type { RunSummary } from '../../../../core/api/runs.ts';
import { t } from '../../text.ts';

/** The run's title, status, target and load, and links to the dashboards at its time. */
export function RunFacts({ run }: { run: RunSummary }) {
  const styles = useStyles2(getStyles);
  const { prometheus, time, setTitle } = usePage();
  const title = runTitle(run);
  useEffect(() => setTitle(title, <RunId id={run.run_id} />), [setTitle, title, run.run_id]);
  const { pathname, search } = useLocation();
  const setReturn = useReturnToPrevious();
  const goBackHere = () => setReturn(t('run.return', 'the run'), `${pathname}${search}`);
  const facts = [
    run.model,
    // Most runs are chats.
    run.endpoint_type === 'chat' ? '' : run.endpoint_type,
    [run.system, run.system_version].filter(Boolean).join(' '),
    run.load,
    run.duration_seconds === null ? '' : durationText(run.duration_seconds),
    [run.tool, run.tool_version].filter(Boolean).join(' '),
  ].filter(Boolean);
  const natives = useNativeDashboards();
  const place = { time, prometheus, runId: run.run_id, natives };
  const serverUrl = serverDashboardUrl(run.system, place);
  return (
    <div className={styles.row}>
      <StatusBadge status={run.status} failure={run.failure} />
      <span className={styles.facts}>{facts.join(' · ')}</span>
      <span className={styles.links}>
        <LinkButton size="sm" variant="secondary" icon="apps" href={benchmarkDashboardUrl(place)} onClick={goBackHere}>
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

function RunId({ id }: { id: string }) {
  return (
    <span className={useStyles2(getStyles).id}>
      <code>{id}</code>
      <ClipboardButton
        getText={() => id}
        size="sm"
        variant="secondary"
        fill="text"
        icon="copy"
        aria-label={t('run.copy-id', 'Copy the run id')}
      />
    </span>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  id: css({ display: 'inline-flex', alignItems: 'center', gap: theme.spacing(0.5) }),
  row: css({ display: 'flex', flexWrap: 'wrap', alignItems: 'center', gap: theme.spacing(1) }),
  facts: css({ color: theme.colors.text.secondary }),
  links: css({ marginLeft: 'auto', display: 'flex', gap: theme.spacing(1) }),
});
