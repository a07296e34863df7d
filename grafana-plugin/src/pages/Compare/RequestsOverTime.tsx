import { LoadingPlaceholder } from '@grafana/ui';
import React, { useCallback, useMemo } from 'react';
import { secondsText } from '../../charts/time-text.ts';
import { hasValues, XyChart } from '../../charts/XyChart.tsx';
import type { XySeries } from '../../charts/xy-series.ts';
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
import type { ShownRun } from './shown-runs.ts';
import { t } from '../../text.ts';

/** Of all runs together. */
const MAX_POINTS = 9000;
const BINS = 40;

interface Props {
  runs: readonly ShownRun[];
  exporter: ExporterApi;
}

/** The requests of all runs, aligned at the start of their measure phases, with the median of short intervals. */
export function RequestsOverTime({ runs, exporter }: Props) {
  const value = useRequestValue();
  const finished = useMemo(() => runs.filter(({ response }) => response.result !== null), [runs]);
  const load = useCallback(
    (signal: AbortSignal) =>
      Promise.all(
        finished.map(({ response }) =>
          exporter.records(
            response.summary.run_id,
            { fields: ['sent_seconds', value], phase: ['measure'], limit: Math.floor(MAX_POINTS / finished.length) },
            signal
          )
        )
      ),
    [finished, exporter, value]
  );
  const { data, error, loading, reload } = useLoaded(load);
  const series = useMemo(
    () =>
      (data ?? []).flatMap(({ zero, columns }, i): XySeries[] => {
        const run = finished[i];
        const sent = ((columns.sent_seconds ?? []) as number[]).map((seconds) => seconds - (zero.measure_seconds ?? 0));
        const values = (columns[value] ?? []) as Array<number | null>;
        const name = run?.name ?? '';
        const color = run?.color ?? '';
        return [
          { name, color, kind: 'points', x: sent, y: values, secondary: true },
          { name, color, kind: 'line', ...rollingMedian(sent, values, BINS) },
        ];
      }),
    [data, finished, value]
  );
  return (
    <Section
      title={t('comparison.requests', 'Requests over time')}
      description={t(
        'comparison.requests-why',
        'Each point is a request. The line is the median of each of 40 equal time intervals.'
      )}
      actions={<RequestValuePicker label={t('comparison.requests-value', 'Plotted value')} value={value} />}
    >
      {error && (
        <LoadProblem
          title={t('comparison.requests-problem', 'The requests could not be loaded')}
          error={error}
          onRetry={reload}
        />
      )}
      {loading && !data && <LoadingPlaceholder text="" />}
      {data && !hasValues(series) && (
        <p>{t('comparison.requests-none', 'These runs have no values of this measure for each request.')}</p>
      )}
      {data && hasValues(series) && (
        <XyChart
          label={t('comparison.requests-chart', '{{measure}} of each request over time, all runs', {
            measure: requestValueName(value),
          })}
          series={series}
          height={280}
          xText={secondsText}
          yText={requestValueText(value)}
          xTitle={t('comparison.axis', 'since the start of the measure phase')}
        />
      )}
    </Section>
  );
}

/** A line through points: the median of each of `bins` equal stretches of x, at the middle of the stretch. */
export function rollingMedian(
  x: readonly number[],
  y: ReadonlyArray<number | null>,
  bins: number
): { x: number[]; y: Array<number | null> } {
  const points = x.flatMap((at, i): Array<[number, number]> => {
    const value = y[i];
    return value === null || value === undefined ? [] : [[at, value]];
  });
  if (points.length === 0) {
    return { x: [], y: [] };
  }
  const low = Math.min(...points.map(([at]) => at));
  const high = Math.max(...points.map(([at]) => at));
  const width = (high - low) / bins || 1;
  const values: number[][] = Array.from({ length: bins }, () => []);
  for (const [at, value] of points) {
    values[Math.min(bins - 1, Math.floor((at - low) / width))]?.push(value);
  }
  return {
    x: values.map((_, i) => low + (i + 0.5) * width),
    y: values.map(median),
  };
}

function median(values: number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const [low, high] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  return low === undefined || high === undefined ? null : (low + high) / 2;
}
