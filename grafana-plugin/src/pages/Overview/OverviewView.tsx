import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { Alert, LoadingPlaceholder, useStyles2 } from '@grafana/ui';
import React, { useCallback, useEffect } from 'react';
import { useLocation } from 'react-router-dom';
import { counted } from '../../../../core/text/quantities.ts';
import { LoadProblem } from '../../components/LoadProblem.tsx';
import { Tile, Tiles } from '../../components/Tile.tsx';
import { usePage } from '../../hooks/page-context.ts';
import { useLoaded } from '../../hooks/useLoaded.ts';
import type { ExporterApi } from '../../exporter-api/exporter-api.ts';
import { Attention } from './Attention.tsx';
import type { AttentionKind } from './attention.ts';
import { FirstRun } from './FirstRun.tsx';
import { LatestRuns } from './LatestRuns.tsx';
import { LiveRuns } from './LiveRuns.tsx';
import { exporterOverview, type Overview } from './overview.ts';
import { prometheusOverview } from './prometheus-overview.ts';
import { t } from '../../text.ts';

/** While runs are in progress. */
const REFRESH_MS = 3000;

/** What regressed, what is overdue, what runs and what is new; from Prometheus when there is no exporter, or it is down. */
export default function OverviewView() {
  const { exporter, prometheus } = usePage();
  return exporter === null ? (
    prometheus === null ? (
      <FirstRun />
    ) : (
      <FromPrometheus prometheus={prometheus} />
    )
  ) : (
    <FromExporter exporter={exporter} />
  );
}

function FromExporter({ exporter }: { exporter: ExporterApi }) {
  const { prometheus, time } = usePage();
  const { search } = useLocation();
  const load = useCallback(
    (signal: AbortSignal) => exporterOverview(exporter, search, signal),
    // A new time object means that the page was refreshed.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [exporter, search, time]
  );
  const { data, error, loading, reload } = useLoaded(load);
  const isLive = data !== undefined && data.running.length > 0;
  useEffect(() => {
    if (loading || !isLive) {
      return undefined;
    }
    const timer = setTimeout(reload, REFRESH_MS);
    return () => clearTimeout(timer);
  }, [loading, isLive, reload]);
  if (error) {
    return (
      <>
        <LoadProblem title={t('overview.problem', 'The exporter does not answer')} error={error} onRetry={reload} />
        {prometheus !== null && <FromPrometheus prometheus={prometheus} />}
      </>
    );
  }
  if (!data) {
    return <LoadingPlaceholder text={t('overview.loading', 'Loading the overview …')} />;
  }
  return data.stored?.runs === 0 ? <FirstRun exporterAnswers /> : <Page overview={data} />;
}

function FromPrometheus({ prometheus }: { prometheus: string }) {
  const { time } = usePage();
  const load = useCallback(
    () => prometheusOverview(prometheus),
    // A new time object means that the page was refreshed.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [prometheus, time]
  );
  const { data, error, reload } = useLoaded(load);
  if (error) {
    return (
      <LoadProblem
        title={t('overview.prometheus-problem', 'The Prometheus query failed')}
        error={error}
        onRetry={reload}
      />
    );
  }
  if (!data) {
    return <LoadingPlaceholder text={t('overview.prometheus-loading', 'Querying Prometheus …')} />;
  }
  const isEmpty = data.latest.length + data.running.length + data.attention.length === 0;
  return (
    <>
      <Alert
        severity="info"
        title={t('overview.from-prometheus', 'From Prometheus alone: the last 24 hours, without verdicts on runs')}
      />
      {isEmpty ? <FirstRun /> : <Page overview={data} />}
    </>
  );
}

function Page({ overview }: { overview: Overview }) {
  const styles = useStyles2(getStyles);
  return (
    <div className={styles.page}>
      <Counts overview={overview} />
      <Attention overview={overview} />
      <LiveRuns runs={overview.running} />
      <LatestRuns overview={overview} />
    </div>
  );
}

function Counts({ overview: { attention, running } }: { overview: Overview }) {
  const count = (...kinds: AttentionKind[]) => attention.filter(({ kind }) => kinds.includes(kind)).length;
  const [regressed, overdue, open] = [count('regressed'), count('overdue'), count('suspect', 'undecided')];
  return (
    <Tiles>
      <Tile
        label={t('overview.regressions', 'Open regressions')}
        value={counted(regressed)}
        {...(regressed > 0 && { mood: 'bad' as const })}
      />
      <Tile
        label={t('overview.overdue', 'Overdue')}
        value={counted(overdue)}
        meaning={t('overview.overdue-meaning', 'Scenarios that have not completed for twice their expected interval')}
        {...(overdue > 0 && { mood: 'warning' as const })}
      />
      <Tile
        label={t('overview.undecided', 'Suspect or undecided')}
        value={counted(open)}
        meaning={t('overview.undecided-meaning', 'Scenarios whose newest check calls for further runs')}
        {...(open > 0 && { mood: 'warning' as const })}
      />
      <Tile label={t('overview.running', 'Running')} value={counted(running.length)} />
    </Tiles>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  page: css({ display: 'flex', flexDirection: 'column', gap: theme.spacing(1.5), minWidth: 0 }),
});
