import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { runMatcher, type ClientHistogram } from '../../../prometheus/queries.ts';
import { baseDashboard } from '../base-dashboard.ts';
import { percentilesOverTime, SELECTED_RUNS } from '../queries/client.ts';
import { lines, row, type PanelSpec } from '../server/panel-spec.ts';
import { addRow } from '../server/server-dashboard.ts';
import { datasourceVariable, runVariables, scrapeIntervalVariable } from '../variables.ts';
import { drawAppPanel } from './draw-app-panel.ts';

const QUANTILES = [0.5, 0.9, 0.99];

function latency(title: string, about: string, histogram: ClientHistogram): PanelSpec {
  const buckets = `llmbench_${histogram}_seconds_bucket{${runMatcher(SELECTED_RUNS)}}`;
  const queries = percentilesOverTime(histogram, QUANTILES);
  const signals = queries.map((query, index) => ({
    ...query,
    display: { unit: 's' },
    families: [],
    percentile: { quantile: QUANTILES[index] ?? 0, buckets },
  }));
  return lines(title, about, signals);
}

/** What the client measured in the chosen runs, with the interval in which each percentile lies. */
export function benchmarkApp(): Dashboard {
  const dashboard = baseDashboard({
    uid: 'llmbench-benchmark-app',
    title: 'LLM benchmark, percentiles with bounds',
    description:
      'Latency percentiles of the client with the interval in which each lies; all else is on "LLM benchmark"',
    tag: 'llmbench-app',
  }).variables([
    datasourceVariable(),
    ...runVariables(),
    scrapeIntervalVariable(`llmbench_run_phase{${runMatcher(SELECTED_RUNS)},phase="measure"}`),
  ]);
  const panels = [
    latency('Time to first token', 'From sending a request to its first chunk with content.', 'time_to_first_token'),
    latency('Inter-token latency', 'One mean per request.', 'inter_token_latency'),
    latency('Request latency', 'From sending a request to its last chunk with content.', 'request_latency'),
    latency('Time to first token, from due', 'From when the request was due.', 'time_to_first_token_from_due'),
    latency('Gap between chunks', 'One value per gap.', 'inter_chunk_latency'),
    latency('Waiting in the client', 'From when a request was due to when it was sent.', 'schedule_delay'),
  ];
  addRow(dashboard, row(1, 'Latency seen by the client', panels), drawAppPanel);
  return dashboard.build();
}
