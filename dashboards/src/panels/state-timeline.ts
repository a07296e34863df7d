import { VisibilityMode, VizLegendOptionsBuilder } from '@grafana/grafana-foundation-sdk/common';
import { MappingType, type ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/statetimeline';
import { overTime, type Query } from '../target.ts';
import { framed, type PanelFrame } from './frame.ts';

export interface State {
  readonly value: number;
  readonly text: string;
  /** A color of Grafana's palette. */
  readonly color: string;
}

export interface StateTimelineOptions extends PanelFrame {
  readonly states: readonly State[];
  /** What it means that there is nothing to show. */
  readonly noValue: string;
  readonly queries: readonly Query[];
}

/** Grafana's mapping of values to a text and a color. */
export function stateMappings(states: readonly State[]): ValueMapping[] {
  const options = Object.fromEntries(
    states.map(({ value, text, color }, index) => [String(value), { text, color, index }]),
  );
  return [{ type: MappingType.ValueToText, options }];
}

/** One row per series, colored by its state over time; a gap in the data stays a gap. */
export function stateTimeline(options: StateTimelineOptions): PanelBuilder {
  return (
    framed(new PanelBuilder(), options)
      .mappings(stateMappings(options.states))
      .noValue(options.noValue)
      .mergeValues(true)
      .showValue(VisibilityMode.Auto)
      .spanNulls(false)
      .rowHeight(0.8)
      .legend(new VizLegendOptionsBuilder().showLegend(true))
      // Prometheus answers an empty query with a frame without fields, for which Grafana reports a missing time field
      // and not `noValue`: leave such frames out.
      .withTransformation({ id: 'filterFieldsByName', options: { include: { pattern: '.*' } } })
      .targets(overTime(options.queries))
  );
}
