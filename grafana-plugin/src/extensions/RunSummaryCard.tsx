import { getDataSourceSrv } from '@grafana/runtime';
import { ErrorBoundaryAlert, LoadingPlaceholder, Stack, TextLink } from '@grafana/ui';
import React, { useCallback, useMemo } from 'react';
import { shortTitle } from '../../../core/measures/names.ts';
import { quantity } from '../../../core/text/quantities.ts';
import { LoadProblem } from '../components/LoadProblem.tsx';
import { runUrl } from '../components/run-link.ts';
import { StatusBadge } from '../components/Badges.tsx';
import { Tile, Tiles } from '../components/Tile.tsx';
import { useLoaded } from '../hooks/useLoaded.ts';
import { RUNS_DATASOURCE_ID } from '../constants.ts';
import { ExporterApi, ExporterError } from '../exporter-api/exporter-api.ts';
import type { RunSummary } from '../../../core/api/runs.ts';
import { latenciesOf, throughputText } from '../runs/latencies.ts';
import { t } from '../text.ts';

export interface RunSummaryProps {
  runId: string;
  /** Uid of the data source; the first of its kind when it is left out. */
  dataSourceUid?: string;
}

/** Key numbers of one run, for other plugins. */
export default function RunSummaryCard(props: RunSummaryProps) {
  return (
    <ErrorBoundaryAlert>
      <Card {...props} />
    </ErrorBoundaryAlert>
  );
}

function Card({ runId, dataSourceUid }: RunSummaryProps) {
  const api = useMemo(() => {
    const service = getDataSourceSrv();
    const settings = dataSourceUid
      ? service.getInstanceSettings(dataSourceUid)
      : service.getList({ pluginId: RUNS_DATASOURCE_ID })[0];
    return settings?.url === undefined ? null : new ExporterApi(settings.url);
  }, [dataSourceUid]);
  const load = useCallback(
    async (signal: AbortSignal) => {
      if (api === null) {
        throw new ExporterError(t('summary.no-data-source', 'Grafana has no data source "llmbench runs".'), null);
      }
      return (await api.run(runId, signal)).summary;
    },
    [api, runId]
  );
  const { data, error, reload } = useLoaded(load);
  if (error) {
    return <LoadProblem title={t('summary.problem', 'The run could not be loaded')} error={error} onRetry={reload} />;
  }
  return data ? <Summary run={data} /> : <LoadingPlaceholder text="" />;
}

function Summary({ run }: { run: RunSummary }) {
  const { numbers } = run;
  return (
    <section aria-label={t('summary.title', 'Benchmark run {{run}}', { run: run.run_id })}>
      <Stack direction="row" wrap="wrap" gap={1} alignItems="center">
        <StatusBadge status={run.status} failure={run.failure} />
        <TextLink href={runUrl(run, '')}>{run.scenario}</TextLink>
        <span>{[run.model, run.system, run.load].filter(Boolean).join(' · ')}</span>
      </Stack>
      {numbers && (
        <Tiles>
          {latenciesOf(run).map((latency) => {
            const stat = latency === 'inter_token_latency' ? 'p50' : 'p99';
            const value = numbers[`${latency}_seconds`]?.[stat];
            return <Tile key={latency} label={shortTitle(latency, stat)} value={quantity(value, 'seconds')} />;
          })}
          <Tile label={t('summary.output', 'Output')} value={throughputText(numbers)} />
          <Tile label={t('summary.errors', 'Errors')} value={quantity(numbers.error_ratio, 'ratio')} />
        </Tiles>
      )}
    </section>
  );
}
