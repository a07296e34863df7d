import type { PanelModel } from '@grafana/data';
import { defaultOptions, type PercentilesOptions } from './options.ts';

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
