import { PanelBuilder, type Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { withFormerNames } from '../../../prometheus/former-names.ts';
import { runMatcher, type ClientHistogram } from '../../../prometheus/queries.ts';
import { baseDashboard } from '../base-dashboard.ts';
import { DATASOURCE } from '../datasource.ts';
import { percentilesOverTime, SELECTED_RUNS } from '../queries/client.ts';
import { description } from '../server/draw-panel.ts';
import { lines, row, type PanelSpec } from '../server/panel-spec.ts';
import { addRow, type DrawPanel } from '../server/server-dashboard.ts';
import { overTime } from '../target.ts';
import { datasourceVariable, runVariables, SAMPLES_OF_RUNS, scrapeIntervalVariable } from '../variables.ts';

const PERCENTILES_PANEL = 'llmbench-percentiles-panel';
const BOUNDS =
  'From raw counters: the differences between scrapes are true counts, so that each percentile lies in the shaded interval.';

/** Its legend is a table of the whole range, below the picture. */
const LEGEND_HEIGHT = 4;

/** Draws latency percentiles with the panel of the app, which takes raw buckets and finds the differences itself. */
export const drawAppPanel: DrawPanel = (spec, id, { width, height }) => {
  const percentiles = spec.signals.flatMap(({ percentile }) => (percentile === undefined ? [] : [percentile]));
  const buckets = [...new Set(percentiles.map((percentile) => percentile.buckets))];
  const quantiles = [...new Set(percentiles.map(({ quantile }) => quantile))].sort((a, b) => a - b);
  return new PanelBuilder()
    .id(id)
    .type(PERCENTILES_PANEL)
    .title(spec.title)
    .description(description(spec, BOUNDS))
    .datasource(DATASOURCE)
    .span(width)
    .height(height + LEGEND_HEIGHT)
    .targets(overTime(buckets.map((selector) => ({ expr: withFormerNames(eitherKind(selector)), legend: '__auto' }))))
    .fieldConfig({ defaults: { unit: spec.signals[0]?.display.unit ?? 's' }, overrides: [] })
    .options({ percentiles: quantiles, showIntervals: true, windowSeconds: 0, showLegend: true });
};

const BUCKETS = /^([\w:]+)_bucket\{(.+)\}$/;

/**
 * The raw counters of a histogram in either kind: the selector of its classic buckets and, where these select nothing, the
 * native histogram. Only of selectors and set operators, so that it is valid also where native histograms are unknown.
 * Throws an error if `buckets` is anything but a selector with matchers.
 */
function eitherKind(buckets: string): string {
  const [, family = '', matchers = ''] = BUCKETS.exec(buckets) ?? [];
  if (family === '') throw new Error(`not a selector of buckets: ${buckets}`);
  return `${buckets} or ${family}{${matchers}} unless ignoring (le) ${family}_bucket{${matchers},le="+Inf"}`;
}

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
  }).variables([datasourceVariable(), ...runVariables(), scrapeIntervalVariable(SAMPLES_OF_RUNS)]);
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
