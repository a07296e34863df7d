import { PanelBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { DATASOURCE } from '../datasource.ts';
import { description } from '../server/description.ts';
import type { DrawPanel } from '../server/server-dashboard.ts';
import { overTime } from '../target.ts';
import { eitherKind } from './either-kind.ts';

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
    .targets(overTime(buckets.map((selector) => ({ expr: eitherKind(selector), legend: '__auto' }))))
    .fieldConfig({ defaults: { unit: spec.signals[0]?.display.unit ?? 's' }, overrides: [] })
    .options({ percentiles: quantiles, showIntervals: true, windowSeconds: 0, showLegend: true });
};
