import type { PanelOptionsEditorBuilder, SelectableValue } from '@grafana/data';

/** Options of the panel; units, decimals, minimum and maximum are Grafana's standard field options. */
export interface PercentilesOptions {
  /** 0 to 1. */
  percentiles: number[];
  /** Draw the interval of each percentile. */
  showIntervals: boolean;
  /** Length in seconds of the sliding window over raw counters; 0 = automatic. */
  windowSeconds: number;
  /** A service level objective to draw as a line, in the base unit of the metric (mostly seconds). */
  slo?: number | undefined;
  showLegend: boolean;
}

export const defaultOptions: PercentilesOptions = {
  percentiles: [0.5, 0.9, 0.99],
  showIntervals: true,
  windowSeconds: 0,
  showLegend: true,
};

const WINDOWS = [
  { value: 0, label: 'Automatic' },
  { value: 5, label: '5 s' },
  { value: 10, label: '10 s' },
  { value: 30, label: '30 s' },
  { value: 60, label: '1 min' },
  { value: 300, label: '5 min' },
  { value: 900, label: '15 min' },
  { value: 3600, label: '1 h' },
];

/** `p99` for 0.99, `p99.9` for 0.999. */
export function percentileName(quantile: number): string {
  return `p${Number((quantile * 100).toFixed(6))}`;
}

const PERCENTILES: SelectableValue[] = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999].map((value) => ({
  value,
  label: percentileName(value),
}));

export function buildOptions(builder: PanelOptionsEditorBuilder<PercentilesOptions>): void {
  builder
    .addMultiSelect({
      path: 'percentiles',
      name: 'Percentiles',
      defaultValue: defaultOptions.percentiles,
      settings: { options: PERCENTILES },
    })
    .addBooleanSwitch({
      path: 'showIntervals',
      name: 'Intervals',
      description: 'Shade the interval in which each percentile lies',
      defaultValue: defaultOptions.showIntervals,
    })
    .addSelect({
      path: 'windowSeconds',
      name: 'Window',
      description: 'For raw counters: how much time each point of the lines covers',
      defaultValue: defaultOptions.windowSeconds,
      settings: { options: WINDOWS },
    })
    .addNumberInput({
      path: 'slo',
      name: 'Service level objective',
      description: 'Draws a line at this value, in the base unit of the metric (mostly seconds)',
      settings: { placeholder: 'none' },
    })
    .addBooleanSwitch({
      path: 'showLegend',
      name: 'Legend',
      description: 'A table with the percentiles of the whole time range',
      defaultValue: defaultOptions.showLegend,
    });
}
