import {
  BigValueColorMode,
  BigValueGraphMode,
  BigValueTextMode,
  ReduceDataOptionsBuilder,
  VizOrientation,
  VizTextDisplayOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import { ThresholdsConfigBuilder, ThresholdsMode, type ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { atTheEnd, runLinks, type Query } from '../target.ts';
import { framed, type PanelFrame } from './frame.ts';

export interface StatOptions extends PanelFrame {
  readonly unit: string;
  readonly decimals?: number;
  /** Texts for values that stand for a state. */
  readonly mappings?: readonly ValueMapping[];
  /** From this value on, the number is colored: it deserves attention. */
  readonly alarmFrom?: number;
  /** Few: more than three series overlap. */
  readonly queries: readonly Query[];
}

/** One number per series, as it is at the end of the time range; `–` where there is none, never 0. */
export function stat(options: StatOptions): PanelBuilder {
  const panel = framed(new PanelBuilder(), options)
    .unit(options.unit)
    .noValue('–')
    .colorMode(options.alarmFrom === undefined ? BigValueColorMode.None : BigValueColorMode.Value)
    .graphMode(BigValueGraphMode.None)
    .textMode(BigValueTextMode.Auto)
    // A row per series has more room for its name than a column.
    .orientation(VizOrientation.Horizontal)
    // Grafana's automatic size differs from tile to tile, and makes long names unreadably small.
    .text(new VizTextDisplayOptionsBuilder().titleSize(12).valueSize(20))
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']))
    .targets(atTheEnd(options.queries));
  for (const { refId, links } of runLinks(options.queries)) panel.overrideByQuery(refId, [links]);
  if (options.alarmFrom !== undefined) {
    const steps = [
      { value: null, color: 'text' },
      { value: options.alarmFrom, color: 'orange' },
    ];
    panel.thresholds(new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(steps));
  }
  if (options.mappings !== undefined) panel.mappings([...options.mappings]);
  // An increase is extrapolated: its digits behind the point are none of the count.
  const decimals = options.decimals ?? (options.unit === 'locale' ? 0 : undefined);
  return decimals === undefined ? panel : panel.decimals(decimals);
}
