import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { LoadingPlaceholder, useStyles2, useTheme2 } from '@grafana/ui';
import React, { useCallback } from 'react';
import type { QuantityName, SeriesResponse, SeriesView } from '../../../core/api/run-data.ts';
import type { Unit } from '../../../core/run/statistic.ts';
import { tickText } from '../../../core/text/quantities.ts';
import { XyChart } from '../charts/XyChart.tsx';
import { paletteColor } from '../charts/chart-style.ts';
import { secondsText } from '../charts/time-text.ts';
import type { XySeries, XyRegion } from '../charts/xy-series.ts';
import type { ExporterApi } from '../exporter-api/exporter-api.ts';
import { useLoaded } from '../hooks/useLoaded.ts';
import { t } from '../text.ts';
import { LoadProblem } from './LoadProblem.tsx';
import { Section } from './Section.tsx';

/** The server metrics shown over time, in this order. */
const SIGNALS = [
  'requests_running',
  'requests_waiting',
  'kv_cache_usage',
  'generation_tokens_total',
  'prompt_tokens_total',
  'cached_prompt_tokens_total',
  'requests_in_flight',
] as const satisfies readonly QuantityName[];
type Signal = (typeof SIGNALS)[number];

function signalName(signal: Signal): string {
  switch (signal) {
    case 'requests_running':
      return t('signal.running', 'Running requests');
    case 'requests_waiting':
      return t('signal.waiting', 'Waiting requests');
    case 'kv_cache_usage':
      return t('signal.kv', 'KV cache usage');
    case 'generation_tokens_total':
      return t('signal.output', 'Output tokens per second');
    case 'prompt_tokens_total':
      return t('signal.input', 'Prompt tokens per second');
    case 'cached_prompt_tokens_total':
      return t('signal.cached', 'Cached prompt tokens per second');
    case 'requests_in_flight':
      return t('signal.in-flight', 'Requests in flight at the frontend');
  }
}

function signalUnit(signal: Signal): Unit {
  if (signal === 'kv_cache_usage') {
    return 'ratio';
  }
  return signal.endsWith('_total') ? 'tokens_per_second' : 'requests';
}

interface RunSignals {
  /** Before the names of its series; empty where there is one run. */
  name: string;
  color: string;
  response: SeriesResponse;
  /** The time, in seconds since the run's zero, that is drawn at 0. */
  zeroSeconds: number;
}

/** The series of a signal, of all runs. Series of one run share its color, and differ by the dashes where there are several. */
function signalSeries(runs: readonly RunSignals[], signal: Signal, colorOf: (i: number) => string): XySeries[] {
  return runs.flatMap(({ name, color, response, zeroSeconds }) => {
    const found = response.series.filter(({ quantity }) => quantity === signal);
    return found.map((one, i): XySeries => ({
      name: [name, found.length > 1 || name === '' ? seriesName(one, found) : ''].filter(Boolean).join(' '),
      color: runs.length > 1 ? color : colorOf(i),
      // A gauge's sample holds until the next one; a rate belongs to the time before its point.
      kind: one.as === 'value' ? 'step' : 'line',
      dashed: runs.length > 1 && i > 0,
      x: one.seconds.map((seconds) => seconds - zeroSeconds),
      y: one.values,
    }));
  });
}

/** The labels by which a series differs from the others; the server's address where there are several. */
function seriesName(one: SeriesView, all: readonly SeriesView[]): string {
  const differs = (read: (series: SeriesView) => string | undefined) => new Set(all.map(read)).size > 1;
  const labels = Object.keys(one.labels).filter((label) => differs(({ labels: others }) => others[label]));
  const parts = [
    ...(differs(({ target }) => target) ? [one.target.replace(/^https?:\/\//, '').replace(/\/metrics$/, '')] : []),
    ...labels.map((label) => `${label}=${one.labels[label]}`),
  ];
  return parts.join(' ') || one.family;
}

interface Props {
  runs: readonly RunSignals[];
  regions?: readonly XyRegion[];
  xTitle: string;
}

/** A small chart for each metric that a run has. */
function SignalCharts({ runs, regions = [], xTitle }: Props) {
  const styles = useStyles2(getStyles);
  const theme = useTheme2();
  const charts = SIGNALS.map((signal) => ({
    signal,
    series: signalSeries(runs, signal, (i) => paletteColor(theme, i)),
  })).filter(({ series }) => series.length > 0);
  if (charts.length === 0) {
    return <p>{t('signals.none', 'The servers expose none of these metrics.')}</p>;
  }
  return (
    <div className={styles.grid}>
      {charts.map(({ signal, series }) => (
        <div key={signal} className={styles.chart}>
          <h3 className={styles.title}>{signalName(signal)}</h3>
          <XyChart
            label={signalName(signal)}
            series={series}
            regions={regions}
            height={170}
            xText={secondsText}
            yText={(value) => axisText(value, signalUnit(signal))}
            xTitle={xTitle}
          />
        </div>
      ))}
    </div>
  );
}

/** The title says what is counted. */
function axisText(value: number, unit: ReturnType<typeof signalUnit>): string {
  return unit === 'ratio' ? tickText(value, unit) : tickText(value, unit).replace(/ .*/, '');
}

interface ServerSignalsProps {
  exporter: ExporterApi;
  runs: ReadonlyArray<Pick<RunSignals, 'name' | 'color'> & { runId: string }>;
  /** What is drawn at 0. */
  zero: 'run' | 'measure';
  description?: string;
  regions?: readonly XyRegion[];
}

/** Queue, batch, KV cache and cache hits of the servers of runs, over their time. */
export function ServerSignals({ exporter, runs, zero, description, regions }: ServerSignalsProps) {
  const ids = JSON.stringify(runs.map(({ runId }) => runId));
  const load = useCallback(
    (signal: AbortSignal) =>
      Promise.all(
        (JSON.parse(ids) as string[]).map((runId) =>
          exporter.series(runId, { quantity: [...SIGNALS], points: 400 }, signal)
        )
      ),
    [ids, exporter]
  );
  const { data, error, loading, reload } = useLoaded(load);
  const shown = (data ?? []).flatMap((response, i) => {
    const run = runs[i];
    return run ? [{ ...run, response, zeroSeconds: zero === 'run' ? 0 : (response.zero.measure_seconds ?? 0) }] : [];
  });
  return (
    <Section title={t('signals.title', 'Server signals')} description={description}>
      {error && (
        <LoadProblem title={t('signals.problem', 'The signals could not be loaded')} error={error} onRetry={reload} />
      )}
      {loading && !data && <LoadingPlaceholder text="" />}
      {data && (
        <SignalCharts
          runs={shown}
          regions={regions}
          xTitle={
            zero === 'run'
              ? t('signals.axis', 'since the start of the run')
              : t('comparison.axis', 'since the start of the measure phase')
          }
        />
      )}
    </Section>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  grid: css({ display: 'grid', gridTemplateColumns: 'repeat(auto-fill, minmax(380px, 1fr))', gap: theme.spacing(2) }),
  chart: css({ minWidth: 0 }),
  title: css({ ...theme.typography.bodySmall, color: theme.colors.text.secondary, margin: theme.spacing(0, 0, 0.5) }),
});
