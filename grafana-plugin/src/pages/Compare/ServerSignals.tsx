import { LoadingPlaceholder } from '@grafana/ui';
import React, { useCallback, useMemo } from 'react';
import { LoadProblem } from '../../components/LoadProblem.tsx';
import { Section } from '../../components/Section.tsx';
import { SignalCharts, SIGNALS } from '../../components/SignalCharts.tsx';
import { useLoaded } from '../../hooks/useLoaded.ts';
import type { ExporterApi } from '../../exporter-api/exporter-api.ts';
import type { ShownRun } from './shown-runs.ts';
import { t } from '../../text.ts';

interface Props {
  runs: readonly ShownRun[];
  exporter: ExporterApi;
}

/** Server metrics of all runs, aligned at the start of their measure phases. */
export function ServerSignals({ runs, exporter }: Props) {
  const collected = useMemo(
    () => runs.filter(({ response }) => response.has_servers && response.result !== null),
    [runs]
  );
  const load = useCallback(
    (signal: AbortSignal) =>
      Promise.all(
        collected.map(({ response }) =>
          exporter.series(response.summary.run_id, { quantity: [...SIGNALS], points: 400 }, signal)
        )
      ),
    [collected, exporter]
  );
  const { data, error, loading, reload } = useLoaded(load);
  const signals = (data ?? []).flatMap((response, i) => {
    const run = collected[i];
    return run ? [{ name: run.name, color: run.color, response, zeroSeconds: response.zero.measure_seconds ?? 0 }] : [];
  });
  return (
    <Section title={t('comparison.signals', 'Server signals')}>
      {error && (
        <LoadProblem
          title={t('comparison.signals-problem', 'The signals could not be loaded')}
          error={error}
          onRetry={reload}
        />
      )}
      {loading && !data && <LoadingPlaceholder text="" />}
      {data && <SignalCharts runs={signals} xTitle={t('comparison.axis', 'since the start of the measure phase')} />}
    </Section>
  );
}
