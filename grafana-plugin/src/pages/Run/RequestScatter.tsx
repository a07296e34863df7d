import { t } from '@grafana/i18n';
import { Combobox, LoadingPlaceholder, useTheme2 } from '@grafana/ui';
import React, { useCallback, useMemo } from 'react';
import { quantity, tickText } from '../../../../core/measures/quantities.ts';
import { useAddress } from '../../app/useAddress.ts';
import { secondsText } from '../../charts/time-text.ts';
import { XyChart } from '../../charts/XyChart.tsx';
import type { XyRegion } from '../../charts/xy-series.ts';
import { LoadProblem } from '../../components/LoadProblem.tsx';
import { Section } from '../../components/Section.tsx';
import { useLoaded } from '../../components/useLoaded.ts';
import type { ExporterApi } from '../../exporter-api/exporter-api.ts';
import { RECORD_MEASURES, type RecordMeasure } from '../../exporter-api/types.ts';
import { requestSeries } from './request-series.ts';
import { Named } from '../../components/Named.tsx';

const DEFAULT_VALUE: RecordMeasure = 'time_to_first_token_seconds';
const MOST_POINTS = 10_000;

interface Props {
  exporter: ExporterApi;
  runId: string;
  phases: readonly XyRegion[];
  /** The run lasts: its requests are told when it has ended. */
  live: boolean;
}

/** One point per request at the time when it was sent. */
export function RequestScatter({ exporter, runId, phases, live }: Props) {
  const theme = useTheme2();
  const address = useAddress();
  const value = RECORD_MEASURES.find((name) => name === address.one('requests')) ?? DEFAULT_VALUE;
  const load = useCallback(
    (signal: AbortSignal) =>
      exporter.records(
        runId,
        { fields: ['sent_seconds', 'end_seconds', 'outcome', value], limit: MOST_POINTS },
        signal
      ),
    [exporter, runId, value]
  );
  const { data, error, loading, reload } = useLoaded(live ? null : load);
  const series = useMemo(() => (data ? requestSeries(data, value, theme) : []), [data, value, theme]);
  const unit = value.endsWith('_seconds') ? 'seconds' : 'tokens';
  const sampled = data?.sampled;
  return (
    <Section
      title={t('requests.title', 'Requests')}
      description={
        sampled && sampled.every > 1
          ? t(
              'requests.sampled',
              'Every {{every}}th of {{of}} requests, at the time when it was sent. Failed ones without a value stand on the axis.',
              {
                every: sampled.every,
                of: sampled.of.toLocaleString('en-US'),
              }
            )
          : t(
              'requests.all',
              'One point per request, at the time when it was sent. Failed ones without a value stand on the axis.'
            )
      }
      actions={
        <Named label={t('requests.value', 'Value of the points')}>
          {(named) => (
            <Combobox
              options={RECORD_MEASURES.map((name) => ({ value: name, label: fieldName(name) }))}
              value={value}
              onChange={({ value: chosen }) => address.set({ requests: chosen === DEFAULT_VALUE ? null : chosen })}
              width={36}
              aria-labelledby={named}
            />
          )}
        </Named>
      }
    >
      {error && (
        <LoadProblem title={t('requests.problem', 'The requests could not be loaded')} error={error} onRetry={reload} />
      )}
      {loading && !data && <LoadingPlaceholder text="" />}
      {live && <p>{t('requests.live', 'The requests are shown when the run has ended.')}</p>}
      {data && (
        <XyChart
          label={t('requests.chart', '{{measure}} of each request over the time of the run', {
            measure: fieldName(value),
          })}
          series={series}
          regions={phases}
          height={260}
          xText={secondsText}
          yText={(number) => (unit === 'seconds' ? tickText(number, unit) : quantity(number, unit))}
          xTitle={t('requests.axis', 'since the start of the run')}
        />
      )}
    </Section>
  );
}

/** `time_to_first_token_seconds` as `time to first token`. */
function fieldName(name: RecordMeasure): string {
  return name.replace(/_seconds$/, '').replaceAll('_', ' ');
}
