import type { StandardEditorProps, PanelOptionsEditorBuilder, SelectableValue, PanelModel } from '@grafana/data';
import { MultiCombobox, type ComboboxOption } from '@grafana/ui';
import React from 'react';
import { percentileName } from './compute/percentile.ts';
import { t } from '../../text.ts';

const CHOICES = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

/** Chooses percentiles. Grafana's own editor for several values leaves empty ones behind where they are numbers. */
function PercentilesEditor({ value = [], onChange, id }: StandardEditorProps<number[]>) {
  // A dashboard's JSON may contain others.
  const all = [...new Set([...CHOICES, ...value])].sort((a, b) => a - b);
  const options = all.map((quantile): ComboboxOption<number> => ({ value: quantile, label: percentileName(quantile) }));
  return (
    <MultiCombobox
      {...(id !== undefined && { id })}
      options={options}
      value={value}
      onChange={(chosen) => onChange(chosen.map((option) => option.value).sort((a, b) => a - b))}
    />
  );
}

/** `time`: percentiles over time. `range`: the distribution of the whole visible range. */
export type PercentilesMode = 'time' | 'range';

/** Options of the panel; units, decimals, minimum and maximum are Grafana's standard field options. */
export interface PercentilesOptions {
  mode: PercentilesMode;
  /** 0 to 1. */
  percentiles: number[];
  /** Draw the interval of each percentile. */
  showIntervals: boolean;
  /** Draw the sampling interval of each percentile. */
  showSampling: boolean;
  /** Length in seconds of the sliding window over raw counters; 0 = automatic. */
  windowSeconds: number;
  /** Axis of values; `auto`: linear over time, over the whole range logarithmic where the values differ that much. */
  scale: 'auto' | 'linear' | 'log';
  /** A service level objective to draw as a line, in the base unit of the metric (mostly seconds). */
  slo?: number | undefined;
  /** Draw the field option "Thresholds" as lines. */
  showThresholds: boolean;
  showLegend: boolean;
}

export const defaultOptions: PercentilesOptions = {
  mode: 'time',
  percentiles: [0.5, 0.9, 0.99],
  showIntervals: true,
  showSampling: false,
  windowSeconds: 0,
  scale: 'auto',
  showThresholds: false,
  showLegend: true,
};

export function buildOptions(builder: PanelOptionsEditorBuilder<PercentilesOptions>): void {
  builder
    .addRadio({
      path: 'mode',
      name: t('panel.option.mode', 'Mode'),
      defaultValue: defaultOptions.mode,
      settings: {
        options: [
          { value: 'time', label: t('panel.option.mode-time', 'Over time') },
          { value: 'range', label: t('panel.option.mode-range', 'Whole range') },
        ],
      },
    })
    .addCustomEditor({
      id: 'percentiles',
      path: 'percentiles',
      name: t('panel.option.percentiles', 'Percentiles'),
      defaultValue: defaultOptions.percentiles,
      editor: PercentilesEditor,
    })
    .addBooleanSwitch({
      path: 'showIntervals',
      name: t('panel.option.intervals', 'Intervals'),
      description: t('panel.option.intervals-meaning', 'Shade the interval in which each percentile lies'),
      defaultValue: defaultOptions.showIntervals,
    })
    .addBooleanSwitch({
      path: 'showSampling',
      name: t('panel.option.sampling', 'Sampling whiskers'),
      description: t(
        'panel.option.sampling-meaning',
        'For raw counters: 95 % sampling interval of each percentile, assuming independent requests'
      ),
      defaultValue: defaultOptions.showSampling,
    })
    .addSelect({
      path: 'windowSeconds',
      name: t('panel.option.window', 'Window'),
      description: t('panel.option.window-meaning', 'For raw counters: the time span that each point covers'),
      defaultValue: defaultOptions.windowSeconds,
      settings: { options: windows() },
      showIf: ({ mode }) => mode !== 'range',
    })
    .addRadio({
      path: 'scale',
      name: t('panel.option.scale', 'Value axis'),
      defaultValue: defaultOptions.scale,
      settings: {
        options: [
          { value: 'auto', label: t('panel.option.scale-auto', 'Automatic') },
          { value: 'linear', label: t('panel.option.scale-linear', 'Linear') },
          { value: 'log', label: t('panel.option.scale-log', 'Logarithmic') },
        ],
      },
    })
    .addNumberInput({
      path: 'slo',
      name: t('panel.option.slo', 'Service level objective'),
      description: t(
        'panel.option.slo-meaning',
        'Draws a line at this value, in the base unit of the metric (usually seconds), and shows the share of observations at or below it'
      ),
      settings: { placeholder: t('panel.option.slo-none', 'none') },
    })
    .addBooleanSwitch({
      path: 'showThresholds',
      name: t('panel.option.thresholds', 'Threshold lines'),
      description: t('panel.option.thresholds-meaning', 'Draws the thresholds of the field options'),
      defaultValue: defaultOptions.showThresholds,
    })
    .addBooleanSwitch({
      path: 'showLegend',
      name: t('panel.option.legend', 'Legend'),
      description: t('panel.option.legend-meaning', 'A table with the percentiles of the whole time range'),
      defaultValue: defaultOptions.showLegend,
    });
}

function windows(): Array<SelectableValue<number>> {
  return [
    { value: 0, label: t('panel.option.window-automatic', 'Automatic') },
    { value: 5, label: '5 s' },
    { value: 10, label: '10 s' },
    { value: 30, label: '30 s' },
    { value: 60, label: '1 min' },
    { value: 300, label: '5 min' },
    { value: 900, label: '15 min' },
    { value: 3600, label: '1 h' },
  ];
}

/**
 * Brings stored options into the present form: what is missing gets its default, percentiles written as 99 become 0.99,
 * and what cannot be read falls back to the default. Options of the present form stay as they are.
 */
export function migrateOptions({ options }: Pick<PanelModel, 'options'>): PercentilesOptions {
  const given: Partial<Record<keyof PercentilesOptions, unknown>> = options ?? {};
  const { mode, scale, slo, percentiles, windowSeconds } = given;
  const number = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined);
  const flag = (name: 'showIntervals' | 'showSampling' | 'showThresholds' | 'showLegend') => {
    const value = given[name];
    return typeof value === 'boolean' ? value : defaultOptions[name];
  };
  const objective = number(slo);
  return {
    mode: mode === 'range' ? 'range' : defaultOptions.mode,
    percentiles: Array.isArray(percentiles) ? percentiles.flatMap(asQuantile) : defaultOptions.percentiles,
    showIntervals: flag('showIntervals'),
    showSampling: flag('showSampling'),
    windowSeconds: Math.max(0, number(windowSeconds) ?? defaultOptions.windowSeconds),
    scale: scale === 'linear' || scale === 'log' ? scale : defaultOptions.scale,
    ...(objective !== undefined && { slo: objective }),
    showThresholds: flag('showThresholds'),
    showLegend: flag('showLegend'),
  };
}

function asQuantile(value: unknown): number[] {
  if (typeof value !== 'number' || !(value >= 0 && value <= 100)) {
    return [];
  }
  return [value > 1 ? Number((value / 100).toPrecision(12)) : value];
}
