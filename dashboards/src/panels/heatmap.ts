import {
  HeatmapColorMode,
  HeatmapColorOptionsBuilder,
  HeatmapColorScale,
  HeatmapTooltipBuilder,
  PanelBuilder,
  YAxisConfigBuilder,
} from '@grafana/grafana-foundation-sdk/heatmap';
import { TooltipDisplayMode } from '@grafana/grafana-foundation-sdk/common';
import { asHeatmap } from '../target.ts';
import { framed, type PanelFrame } from './frame.ts';

export interface HeatmapOptions extends PanelFrame {
  /** The unit of the bucket bounds. */
  readonly boundUnit: string;
  /** The unit of a cell's value. */
  readonly unit: string;
  /** Increases per bucket `le` of ONE grid. */
  readonly expr: string;
  /** The variable whose values each get a heatmap of their own. */
  readonly repeat: string;
  /** What it means that there is nothing to show. */
  readonly noValue?: string;
}

/** The distribution over time, bucket by bucket: no estimate is inside. */
export function heatmap(options: HeatmapOptions): PanelBuilder {
  const panel = framed(new PanelBuilder(), options)
    .repeat(options.repeat)
    .repeatDirection('h')
    .maxPerRow(2)
    .unit(options.unit)
    .calculate(false)
    .color(
      new HeatmapColorOptionsBuilder()
        .mode(HeatmapColorMode.Scheme)
        .scheme('Oranges')
        .scale(HeatmapColorScale.Exponential)
        .exponent(0.5)
        .steps(64)
        .reverse(false)
        .fill('dark-orange'),
    )
    .yAxis(new YAxisConfigBuilder().unit(options.boundUnit))
    .tooltip(new HeatmapTooltipBuilder().mode(TooltipDisplayMode.Single).yHistogram(true))
    .showLegend()
    .targets([asHeatmap(options.expr)]);
  return options.noValue === undefined ? panel : panel.noValue(options.noValue);
}
