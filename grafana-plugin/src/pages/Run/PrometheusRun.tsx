import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { Alert, EmptyState, LoadingPlaceholder, useStyles2 } from '@grafana/ui';
import React, { useCallback } from 'react';
import { ABSENT, quantity } from '../../../../core/text/quantities.ts';
import { usePage } from '../../hooks/page-context.ts';
import { LoadProblem } from '../../components/LoadProblem.tsx';
import { measureName } from '../../components/measure-name.ts';
import { Tile, Tiles } from '../../components/Tile.tsx';
import { useLoaded } from '../../hooks/useLoaded.ts';
import type { RunSummary } from '../../../../core/api/runs.ts';
import { queryPrometheus } from '../../prometheus/query-prometheus.ts';
import { hasDocuments, latenciesOf, throughputText } from '../../runs/latencies.ts';
import { breakdownOfSeries, breakdownQueries } from '../../runs/prometheus-breakdown.ts';
import { runQueries, runsOfSeries } from '../../runs/prometheus-runs.ts';
import { LiveBreakdown } from './LiveBreakdown.tsx';
import { Percentiles } from './Percentiles.tsx';
import { RunFacts } from './RunFacts.tsx';
import { LiveTiles } from './RunTiles.tsx';
import { ModelTable } from './StageTable.tsx';
import { TurnTable } from './TurnTable.tsx';
import { t } from '../../text.ts';

/** A run from Prometheus alone: facts, published results and percentiles over time. */
export function PrometheusRun({ runId }: { runId: string }) {
  const styles = useStyles2(getStyles);
  const { prometheus, time } = usePage();
  const load = useCallback(async () => {
    const seconds = (time.to - time.from) / 1000;
    const queries = [...runQueries(seconds, runId), ...breakdownQueries(seconds, runId)];
    const series = await queryPrometheus(prometheus ?? '', queries, time);
    const [run] = runsOfSeries(series, time.to);
    return run === undefined ? null : { run, breakdown: breakdownOfSeries(series) };
  }, [prometheus, time, runId]);
  const { data, error, loading, reload } = useLoaded(load);
  if (error) {
    return (
      <LoadProblem title={t('run.prometheus-problem', 'The Prometheus query failed')} error={error} onRetry={reload} />
    );
  }
  if (loading && !data) {
    return <LoadingPlaceholder text={t('run.loading', 'Loading the run …')} />;
  }
  if (!data) {
    return (
      <EmptyState
        variant="not-found"
        message={t('run.not-in-range', 'Prometheus has no data for run {{run}} in this time range', { run: runId })}
      />
    );
  }
  const { run, breakdown } = data;
  return (
    <div className={styles.page}>
      <RunFacts run={run} />
      <Alert severity="info" title={t('run.from-prometheus', 'Showing data from Prometheus only')}>
        {t(
          'run.from-prometheus-text',
          'Requests, exact distributions, server intervals and the configuration require the data source "llmbench runs".'
        )}
      </Alert>
      {run.status === 'running' ? (
        <>
          <LiveTiles run={run} />
          <LiveBreakdown runId={runId} />
        </>
      ) : (
        <>
          <Numbers run={run} />
          <TurnTable result={{ breakdown, measures: [] }} />
          <ModelTable result={{ breakdown }} />
        </>
      )}
      <Percentiles run={run} exporter={null} />
    </div>
  );
}

function Numbers({ run }: { run: RunSummary }) {
  const { numbers } = run;
  if (numbers === null) {
    return null;
  }
  const median = (value: number | null | undefined) =>
    t('tiles.median', 'p50 {{value}}', { value: quantity(value, 'seconds') });
  return (
    <Tiles>
      <Tile label={t('tiles.requests', 'Ok requests')} value={numbers.requests.ok?.toLocaleString('en-US') ?? ABSENT} />
      {latenciesOf(run).map((latency) => {
        const of = numbers[`${latency}_seconds`];
        return (
          <Tile
            key={latency}
            label={t('tiles.p99', '{{measure}} p99', { measure: measureName(latency) })}
            value={quantity(of?.p99, 'seconds')}
            detail={median(of?.p50)}
          />
        );
      })}
      <Tile
        label={hasDocuments(run) ? t('tiles.documents', 'Document throughput') : t('tiles.output', 'Output throughput')}
        value={throughputText(numbers)}
        detail={quantity(numbers.request_throughput, 'requests_per_second')}
      />
      <Tile label={t('tiles.errors', 'Errors')} value={quantity(numbers.error_ratio, 'ratio')} />
    </Tiles>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  page: css({ display: 'flex', flexDirection: 'column', gap: theme.spacing(1.5), minWidth: 0 }),
});
