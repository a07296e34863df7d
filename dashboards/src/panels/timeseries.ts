import {
  LegendDisplayMode,
  LegendPlacement,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TooltipDisplayMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import { TOKENS_PER_SECOND } from './display-units.ts';
import { overTime, refId, runLinks, type Query } from '../target.ts';
import { framed, type PanelFrame } from './frame.ts';

export interface TimeseriesOptions extends PanelFrame {
  readonly unit: string;
  /** What the axis counts, where the unit alone does not say it. */
  readonly axisLabel?: string;
  /** The upper end of the axis, for a quantity that has one. */
  readonly max?: number;
  /** Areas on top of each other, of parts that add up; else lines. */
  readonly stacked?: boolean;
  /** What it means that there is nothing to show. */
  readonly noValue?: string;
  /** The variable whose values each get a panel of their own. */
  readonly repeat?: string;
  readonly queries: readonly Query[];
}

/** Of a run nothing is known but what was scraped while it lasted. */
export const NO_RUN =
  'No data of the chosen runs in the time range. Prometheus finds running benchmarks through `llmbench serve` (port 9469, ' +
  'path /sd), and only while they last.';
/** Nor of a server, but what Prometheus itself has scraped and recorded. */
const NO_SERVER =
  'No data of these servers. Prometheus has to scrape them under the host and port that the run used, and to load the recording ' +
  'rules in prometheus/rules. Set Servers to All to see every server.';
/** Of one line, and of a panel whose queries find the reason. */
export const NO_VALUE = '–';
/** Name of the line that stands for a service level objective: its style goes by the name. */
const OBJECTIVE = 'objective';
const DASHED = { id: 'custom.lineStyle', value: { fill: 'dash', dash: [10, 10] } };
const OBJECTIVE_STYLE = [
  { id: 'color', value: { mode: 'fixed', fixedColor: 'red' } },
  DASHED,
  { id: 'custom.stacking', value: { mode: 'none' } },
  // The legend has no room for it; its value is on the axis, and in the tooltip.
  { id: 'custom.hideFrom', value: { legend: true, tooltip: false, viz: false } },
];

/** The least upper end of the axis: without, Grafana draws 0 to 100 where all values are 0. Below 5, it writes `mtok/s`. */
const SOFT_MAX: Readonly<Record<string, number>> = { s: 0.001, percentunit: 0.01, [TOKENS_PER_SECOND.unit]: 10 };

/**
 * Lines over time from 0. Grafana's defaults do the rest: a gap in the data stays a gap, and of a short run, which has few
 * samples, it draws the points, as a single one makes no line.
 */
export function timeseries(options: TimeseriesOptions): PanelBuilder {
  const panel = framed(new PanelBuilder(), options)
    .unit(options.unit)
    .axisSoftMin(0)
    .axisSoftMax(SOFT_MAX[options.unit] ?? 1)
    .legend(
      new VizLegendOptionsBuilder()
        .showLegend(true)
        .displayMode(LegendDisplayMode.Table)
        .placement(LegendPlacement.Bottom)
        .calcs(['lastNotNull', 'max'])
        // A legend has room for two or three lines.
        .sortBy('Max')
        .sortDesc(true),
    )
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending))
    .targets(overTime(options.queries));
  for (const { refId, links } of runLinks(options.queries)) panel.overrideByQuery(refId, [links]);
  options.queries.forEach(({ dashed }, index) => {
    if (dashed === true) panel.overrideByQuery(refId(index), [DASHED]);
  });
  const noValue = options.noValue ?? whyNothing(options.queries);
  if (noValue !== undefined) {
    // Grafana writes it into the legend of each line without a value, too.
    panel.noValue(noValue);
    if (noValue !== NO_VALUE) panel.overrideByRegexp('.*', [{ id: 'noValue', value: NO_VALUE }]);
  }
  if (options.repeat !== undefined) panel.repeat(options.repeat).repeatDirection('v');
  if (options.axisLabel !== undefined) panel.axisLabel(options.axisLabel);
  if (options.max !== undefined) panel.max(options.max);
  if (options.stacked === true) panel.fillOpacity(30).stacking(new StackingConfigBuilder().mode(StackingMode.Normal));
  if (options.queries.some(({ legend }) => legend === OBJECTIVE)) panel.overrideByName(OBJECTIVE, OBJECTIVE_STYLE);
  return panel;
}

function whyNothing(queries: readonly Query[]): string | undefined {
  if (queries.some(({ perRun }) => perRun === true)) return NO_RUN;
  return queries.some(({ perServer }) => perServer === true) ? NO_SERVER : undefined;
}

/**
 * A dashed line at the value of a variable; none where no server offers a value. Then Grafana leaves the variable empty, and
 * what is left, `+ 0`, is still a number.
 */
export function objectiveLine(variable: string): Query {
  return { expr: `vector($${variable} + 0) > 0`, legend: OBJECTIVE };
}
