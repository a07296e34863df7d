import { LoadingPlaceholder, useTheme2 } from '@grafana/ui';
import React, { useCallback } from 'react';
import { SignalCharts, SIGNALS } from '../../components/SignalCharts.tsx';
import type { XyRegion } from '../../charts/xy-series.ts';
import { LoadProblem } from '../../components/LoadProblem.tsx';
import { Section } from '../../components/Section.tsx';
import { useLoaded } from '../../hooks/useLoaded.ts';
import type { ExporterApi } from '../../exporter-api/exporter-api.ts';
import { paletteColor } from '../../charts/chart-style.ts';
import { t } from '../../text.ts';

interface Props {
  exporter: ExporterApi;
  runId: string;
  regions: readonly XyRegion[];
}

/** Queue, batch, KV cache and cache hits of the run's servers, over its time. */
export function ServerSignals({ exporter, runId, regions }: Props) {
  const theme = useTheme2();
  const load = useCallback(
    (signal: AbortSignal) => exporter.series(runId, { quantity: [...SIGNALS], points: 400 }, signal),
    [exporter, runId]
  );
  const { data, error, loading, reload } = useLoaded(load);
  return (
    <Section
      title={t('signals.title', 'Server signals')}
      description={t(
        'signals.description',
        'As exposed by the servers during the run, scraped every second unless the run sets another interval.'
      )}
    >
      {error && (
        <LoadProblem title={t('signals.problem', 'The signals could not be loaded')} error={error} onRetry={reload} />
      )}
      {loading && !data && <LoadingPlaceholder text="" />}
      {data && (
        <SignalCharts
          runs={[{ name: '', color: paletteColor(theme, 0), response: data, zeroSeconds: 0 }]}
          regions={regions}
          xTitle={t('signals.axis', 'since the start of the run')}
        />
      )}
    </Section>
  );
}
