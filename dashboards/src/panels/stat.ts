import {
  BigValueColorMode,
  BigValueGraphMode,
  BigValueTextMode,
  ReduceDataOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { DATASOURCE } from '../datasource.ts';
import { atTheEnd, runLinks, type Query } from '../target.ts';
import type { PanelFrame } from './frame.ts';

export interface StatOptions extends PanelFrame {
  readonly unit: string;
  readonly decimals?: number;
  readonly queries: readonly Query[];
}

/** One number per series, as it is at the end of the time range; `–` where there is none, never 0. */
export function stat(options: StatOptions): PanelBuilder {
  const panel = new PanelBuilder()
    .id(options.id)
    .title(options.title)
    .description(options.description)
    .datasource(DATASOURCE)
    .span(options.width)
    .height(options.height)
    .unit(options.unit)
    .noValue('–')
    .colorMode(BigValueColorMode.None)
    .graphMode(BigValueGraphMode.None)
    .textMode(BigValueTextMode.ValueAndName)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']))
    .targets(atTheEnd(options.queries));
  for (const { refId, links } of runLinks(options.queries)) panel.overrideByQuery(refId, [links]);
  return options.decimals === undefined ? panel : panel.decimals(options.decimals);
}
