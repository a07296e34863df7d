import { PanelBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { withFormerNames } from '../../../prometheus/former-names.ts';
import { DATASOURCE } from '../datasource.ts';
import { description } from '../server/description.ts';
import type { DrawPanel } from '../server/server-dashboard.ts';
import { overTime } from '../target.ts';

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
