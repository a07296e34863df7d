import { t } from '@grafana/i18n';
import type { Unit } from '../../../core/run/statistic.ts';
import type { XySeries } from '../charts/xy-series.ts';
import type { QuantityName, SeriesResponse, SeriesView } from '../../../core/api/run-data.ts';

/** The server metrics shown over time, in this order. */
export const SIGNALS = [
  'requests_running',
  'requests_waiting',
  'kv_cache_usage',
  'generation_tokens_total',
  'prompt_tokens_total',
  'cached_prompt_tokens_total',
  'requests_in_flight',
] as const satisfies readonly QuantityName[];
export type Signal = (typeof SIGNALS)[number];

export function signalName(signal: Signal): string {
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

export function signalUnit(signal: Signal): Unit {
  if (signal === 'kv_cache_usage') {
    return 'ratio';
  }
  return signal.endsWith('_total') ? 'tokens_per_second' : 'requests';
}

export interface RunSignals {
  /** Before the names of its series; empty where there is one run. */
  name: string;
  color: string;
  response: SeriesResponse;
  /** The time, in seconds since the run's zero, that is drawn at 0. */
  zeroSeconds: number;
}

/** The series of a signal, of all runs. Series of one run share its color, and differ by the dashes where there are several. */
export function signalSeries(runs: readonly RunSignals[], signal: Signal, colorOf: (i: number) => string): XySeries[] {
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
