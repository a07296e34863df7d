import type { GrafanaTheme2 } from '@grafana/data';
import { LoadingPlaceholder, useTheme2 } from '@grafana/ui';
import React, { useCallback, useMemo } from 'react';
import { OUTCOMES, type Outcome } from '../../../../core/run/record.ts';
import { capitalized } from '../../../../core/measures/names.ts';
import { secondsText } from '../../charts/time-text.ts';
import { XyChart } from '../../charts/XyChart.tsx';
import type { XyRegion, XySeries } from '../../charts/xy-series.ts';
import { LoadProblem } from '../../components/LoadProblem.tsx';
import {
  RequestValuePicker,
  requestValueName,
  requestValueText,
  useRequestValue,
} from '../../components/RequestValue.tsx';
import { Section } from '../../components/Section.tsx';
import { useLoaded } from '../../hooks/useLoaded.ts';
import type { ExporterApi } from '../../exporter-api/exporter-api.ts';
import type { RequestMeasure, RecordsResponse } from '../../../../core/api/run-data.ts';
import { paletteColor } from '../../charts/chart-style.ts';
import { t } from '../../text.ts';

const MAX_POINTS = 10_000;

interface Props {
  exporter: ExporterApi;
  runId: string;
  /** Drawn unless the URL has another value. */
  byDefault: RequestMeasure;
  regions: readonly XyRegion[];
  /** The run is in progress: its requests are available after it ends. */
  live: boolean;
  /** Whether the level changed while the run lasted, a sentence each. */
  steadiness: readonly string[];
}

/** One point per request at the time when it was sent. */
export function RequestScatter({ exporter, runId, byDefault, regions, live, steadiness }: Props) {
  const theme = useTheme2();
  const value = useRequestValue(byDefault);
  const load = useCallback(
    (signal: AbortSignal) =>
      exporter.records(runId, { fields: ['sent_seconds', 'end_seconds', 'outcome', value], limit: MAX_POINTS }, signal),
    [exporter, runId, value]
  );
  const { data, error, loading, reload } = useLoaded(live ? null : load);
  const series = useMemo(() => (data ? requestSeries(data, value, theme) : []), [data, value, theme]);
  const sampled = data?.sampled;
  return (
    <Section
      title={t('requests.title', 'Requests')}
      description={
        sampled && sampled.every > 1
          ? t(
              'requests.sampled',
              'Every {{every}}th of {{of}} requests of all phases, at its send time. Failed requests without a value are drawn at 0.',
              {
                every: sampled.every,
                of: sampled.of.toLocaleString('en-US'),
              }
            )
          : t(
              'requests.all',
              'One point per request of every phase, at its send time. Failed requests without a value are drawn at 0.'
            )
      }
      actions={<RequestValuePicker label={t('requests.value', 'Plotted value')} value={value} />}
    >
      {error && (
        <LoadProblem title={t('requests.problem', 'The requests could not be loaded')} error={error} onRetry={reload} />
      )}
      {loading && !data && <LoadingPlaceholder text="" />}
      {live && <p>{t('requests.live', 'Requests are available after the run ends.')}</p>}
      {steadiness.map((line) => (
        <p key={line}>{capitalized(line)}.</p>
      ))}
      {data && series.length === 0 && <p>{t('requests.none', 'The run has no records of its requests.')}</p>}
      {data && series.length > 0 && (
        <XyChart
          label={t('requests.chart', '{{measure}} of each request over time', {
            measure: requestValueName(value),
          })}
          series={series}
          regions={regions}
          height={260}
          xText={secondsText}
          yText={requestValueText(value)}
          xTitle={t('requests.axis', 'since the start of the run')}
        />
      )}
    </Section>
  );
}

/** Points by outcome; failed requests without the value are drawn at 0, at their send time. */
function requestSeries({ columns }: RecordsResponse, value: RequestMeasure, theme: GrafanaTheme2): XySeries[] {
  const colors: Record<Outcome, string> = {
    ok: paletteColor(theme, 0),
    error: theme.colors.error.text,
    timeout: paletteColor(theme, 1),
    cancelled: theme.colors.text.secondary,
  };
  const sent = (columns.sent_seconds ?? []) as Array<number | null>;
  const values = (columns[value] ?? []) as Array<number | null>;
  return OUTCOMES.flatMap((outcome): XySeries[] => {
    const at = [...sent.keys()].filter((i) => columns.outcome?.[i] === outcome && sent[i] !== null);
    return at.length === 0
      ? []
      : [
          {
            name: `${outcome} (${at.length.toLocaleString('en-US')})`,
            color: colors[outcome],
            kind: 'points',
            x: at.map((i) => sent[i] ?? 0),
            y: at.map((i) => values[i] ?? (outcome === 'ok' ? null : 0)),
          },
        ];
  });
}
