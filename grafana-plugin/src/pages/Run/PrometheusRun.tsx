import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { t } from '@grafana/i18n';
import { Alert, EmptyState, LoadingPlaceholder, useStyles2 } from '@grafana/ui';
import React, { useCallback } from 'react';
import { ABSENT, quantity } from '../../../../core/text/quantities.ts';
import { usePage } from '../../hooks/page-context.ts';
import { LoadProblem } from '../../components/LoadProblem.tsx';
import { Tile, Tiles } from '../../components/Tile.tsx';
import { useLoaded } from '../../hooks/useLoaded.ts';
import type { RunSummary } from '../../../../core/api/runs.ts';
import { queryPrometheus } from '../../prometheus/query-prometheus.ts';
import { runQueries, runsOfSeries } from '../../runs/prometheus-runs.ts';
import { Percentiles } from './Percentiles.tsx';
import { RunFacts } from './RunFacts.tsx';
import { LiveTiles } from './RunTiles.tsx';

/** A run from Prometheus alone: facts, published results and percentiles over time. */
export function PrometheusRun({ runId }: { runId: string }) {
  const styles = useStyles2(getStyles);
  const { prometheus, time } = usePage();
  const load = useCallback(async () => {
    const series = await queryPrometheus(prometheus ?? '', runQueries((time.to - time.from) / 1000, runId), time);
    return runsOfSeries(series, time.to)[0] ?? null;
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
  return (
    <div className={styles.page}>
      <RunFacts run={data} />
      <Alert severity="info" title={t('run.from-prometheus', 'Showing data from Prometheus only')}>
        {t(
          'run.from-prometheus-text',
          'Requests, exact distributions, server intervals and the configuration require the data source "llmbench runs".'
        )}
      </Alert>
      {data.status === 'running' ? <LiveTiles progress={data.progress} /> : <Numbers run={data} />}
      <Percentiles run={data} exporter={null} />
    </div>
  );
}

function Numbers({ run: { numbers } }: { run: RunSummary }) {
  if (numbers === null) {
    return null;
  }
  const { time_to_first_token_seconds: ttft, inter_token_latency_seconds: itl } = numbers;
  const median = (value: number | null | undefined) =>
    t('tiles.median', 'p50 {{value}}', { value: quantity(value, 'seconds') });
  return (
    <Tiles>
      <Tile label={t('tiles.requests', 'Ok requests')} value={numbers.requests.ok?.toLocaleString('en-US') ?? ABSENT} />
      <Tile
        label={t('tiles.ttft', 'Time to first token p99')}
        value={quantity(ttft?.p99, 'seconds')}
        detail={median(ttft?.p50)}
      />
      <Tile
        label={t('tiles.itl', 'Inter-token latency p99')}
        value={quantity(itl?.p99, 'seconds')}
        detail={median(itl?.p50)}
      />
      <Tile
        label={t('tiles.output', 'Output throughput')}
        value={quantity(numbers.output_token_throughput, 'tokens_per_second')}
        detail={quantity(numbers.request_throughput, 'requests_per_second')}
      />
      <Tile label={t('tiles.errors', 'Errors')} value={quantity(numbers.error_ratio, 'ratio')} />
    </Tiles>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  page: css({ display: 'flex', flexDirection: 'column', gap: theme.spacing(1.5), minWidth: 0 }),
});
