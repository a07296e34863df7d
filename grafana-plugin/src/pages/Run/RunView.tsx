import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { Alert, Button, EmptyState, LinkButton, LoadingPlaceholder, useStyles2, useTheme2 } from '@grafana/ui';
import React, { useCallback, useEffect, useState } from 'react';
import { useParams } from 'react-router-dom';
import { usePage } from '../../hooks/page-context.ts';
import { useAddress } from '../../hooks/useAddress.ts';
import { paletteColor } from '../../charts/chart-style.ts';
import { LoadProblem } from '../../components/LoadProblem.tsx';
import { timeOfRuns } from '../../components/run-link.ts';
import { type Loaded, useLiveReload, useLoaded } from '../../hooks/useLoaded.ts';
import { pageUrl, ROUTES } from '../../constants.ts';
import { ExporterError, type ExporterApi } from '../../exporter-api/exporter-api.ts';
import type { RunResponse, RunSummary } from '../../../../core/api/runs.ts';
import { latenciesOf } from '../../runs/latencies.ts';
import { ClientAndServer } from './ClientAndServer.tsx';
import { Configuration } from './Configuration.tsx';
import { EnergyAndCost } from './EnergyAndCost.tsx';
import { LiveBreakdown } from './LiveBreakdown.tsx';
import { MeasureTable } from './MeasureTable.tsx';
import { Percentiles } from './Percentiles.tsx';
import { PrometheusRun } from './PrometheusRun.tsx';
import { PrefixCache } from './PrefixCache.tsx';
import { SpeculativeDecoding } from './SpeculativeDecoding.tsx';
import { RequestScatter } from './RequestScatter.tsx';
import { runRegions } from './run-regions.ts';
import { RunFacts } from './RunFacts.tsx';
import { RunTiles, RunVerdict } from './RunTiles.tsx';
import { ModelTable, StageTable } from './StageTable.tsx';
import { TurnTable } from './TurnTable.tsx';
import { useServerCounts } from './server-histograms.ts';
import { WhereTimeGoes } from './WhereTimeGoes.tsx';
import { steadinessText } from '../../../../core/measures/time-slices.ts';
import { counted } from '../../../../core/text/quantities.ts';
import { type ErrorReason, ERROR_REASON_RULES } from '../../../../core/run/record.ts';
import type { ResultFile } from '../../../../core/run/result.ts';
import { DataTable } from '../../components/DataTable.tsx';
import { Section } from '../../components/Section.tsx';
import { ServerSignals } from '../../components/SignalCharts.tsx';
import { t } from '../../text.ts';

/** The page of one run. */
export default function RunView() {
  const { runId = '' } = useParams();
  const { exporter, prometheus } = usePage();
  const { data, error, reload } = useRun(runId);
  const [withoutExporter, setWithoutExporter] = useState(false);
  useTimeOfRun(data?.summary);
  if (exporter === null || withoutExporter) {
    return prometheus === null ? <NoDataSource /> : <PrometheusRun runId={runId} />;
  }
  if (error instanceof ExporterError && error.status === 404) {
    return <NotFound runId={runId} />;
  }
  if (error) {
    return (
      <LoadProblem title={t('run.problem', 'The run could not be loaded')} error={error} onRetry={reload}>
        {prometheus !== null && (
          <Button variant="secondary" size="sm" onClick={() => setWithoutExporter(true)}>
            {t('run.without-exporter', 'Show data from Prometheus')}
          </Button>
        )}
      </LoadProblem>
    );
  }
  return data ? (
    <Run response={data} exporter={exporter} />
  ) : (
    <LoadingPlaceholder text={t('run.loading', 'Loading the run …')} />
  );
}

/** The run from the exporter, again every few seconds while it lasts; not loaded where there is none. */
function useRun(runId: string): Loaded<RunResponse> {
  const { exporter, time } = usePage();
  const load = useCallback(
    (signal: AbortSignal) => {
      if (exporter === null) {
        throw new Error('no exporter');
      }
      return exporter.run(runId, signal);
    },
    // A new time object means that the page was refreshed.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [exporter, runId, time]
  );
  const loaded = useLoaded(exporter === null ? null : load);
  useLiveReload(loaded, loaded.data?.summary.status === 'running');
  return loaded;
}

interface Props {
  response: RunResponse;
  exporter: ExporterApi;
}

function Run({ response, exporter }: Props) {
  const styles = useStyles2(getStyles);
  const theme = useTheme2();
  const { summary, run, result } = response;
  const counts = useServerCounts(exporter, summary.run_id, response.has_servers && result !== null);
  const regions = runRegions(response);
  return (
    <div className={styles.page}>
      <RunFacts run={summary} />
      <RunVerdict run={summary} />
      {summary.failure && <Alert severity="warning" title={summary.failure} />}
      <RunTiles response={response} />
      {summary.status === 'running' && <LiveBreakdown runId={summary.run_id} />}
      {result && <StageTable result={result} />}
      {result && <TurnTable result={result} />}
      {result && <ModelTable result={result} />}
      <Percentiles run={summary} exporter={result === null ? null : exporter} />
      {result && (
        <>
          <ClientAndServer result={result} counts={counts} />
          <div className={styles.columns}>
            <WhereTimeGoes result={result} exporter={exporter} hasServers={response.has_servers} />
            <ErrorReasons result={result} />
          </div>
        </>
      )}
      {result && <PrefixCache result={result} />}
      {result && <SpeculativeDecoding result={result} />}
      {result && <EnergyAndCost result={result} />}
      <RequestScatter
        exporter={exporter}
        runId={summary.run_id}
        byDefault={`${latenciesOf(summary)[0] ?? 'request_latency'}_seconds`}
        regions={regions}
        live={summary.status === 'running'}
        steadiness={steadinessText(result?.slices)}
      />
      {response.has_servers && (
        <ServerSignals
          exporter={exporter}
          runs={[{ runId: summary.run_id, name: '', color: paletteColor(theme, 0) }]}
          zero="run"
          description={t(
            'signals.description',
            'As exposed by the servers during the run, scraped every second unless the run sets another interval.'
          )}
          regions={regions}
        />
      )}
      {result && <MeasureTable result={result} />}
      <Configuration run={run} />
    </div>
  );
}

/** Without an absolute time range in the URL, the page uses the run's. */
function useTimeOfRun(run: RunSummary | undefined): void {
  const { setTime } = usePage();
  const address = useAddress();
  const [isGiven] = useState(() => address.one('from')?.startsWith('now') === false);
  const id = run?.run_id;
  useEffect(() => {
    const time = run && timeOfRuns([run]);
    if (time && !isGiven) {
      setTime(time);
    }
    // Once per run, when it is loaded.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [id]);
}

function NoDataSource() {
  return (
    <EmptyState
      variant="call-to-action"
      message={t('run.no-data-source', 'No data source with runs is configured')}
      button={<LinkButton href={pageUrl(ROUTES.setup)}>{t('run.to-setup', 'Set up')}</LinkButton>}
    />
  );
}

function NotFound({ runId }: { runId: string }) {
  return (
    <EmptyState
      variant="not-found"
      message={t('run.not-found', 'Run {{run}} not found', { run: runId })}
      button={<LinkButton href={pageUrl(ROUTES.runs)}>{t('run.to-runs', 'All runs')}</LinkButton>}
    >
      {t('run.not-found-why', 'It was deleted, or another exporter stores it.')}
    </EmptyState>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  page: css({ display: 'flex', flexDirection: 'column', gap: theme.spacing(1.5), minWidth: 0 }),
  columns: css({
    display: 'grid',
    gridTemplateColumns: 'repeat(auto-fit, minmax(480px, 1fr))',
    gap: theme.spacing(1.5),
  }),
});

/** Failed requests by reason. */
function ErrorReasons({ result: { errors } }: { result: ResultFile }) {
  const rows = (Object.entries(errors) as Array<[ErrorReason, number]>)
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a);
  return (
    <Section title={t('errors.title', 'Errors by reason')}>
      {rows.length === 0 ? (
        <p>{t('errors.none', 'All requests of the measure phase succeeded.')}</p>
      ) : (
        <DataTable
          label={t('errors.table', 'Errors by reason')}
          rows={rows}
          rowKey={([reason]) => reason}
          columns={[
            { id: 'reason', header: t('errors.reason', 'Reason'), render: ([reason]) => <code>{reason}</code> },
            {
              id: 'count',
              header: t('errors.count', 'Requests'),
              align: 'right',
              render: ([, count]) => counted(count),
            },
            {
              id: 'rule',
              header: t('errors.rule', 'Meaning'),
              wraps: true,
              render: ([reason]) => ERROR_REASON_RULES[reason],
            },
          ]}
        />
      )}
    </Section>
  );
}
