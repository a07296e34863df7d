import { type FieldConfig, type GrafanaTheme2, ThresholdsMode } from '@grafana/data';

export interface Threshold {
  value: number;
  color: string;
}

/** The thresholds of the field options that are values, without the base. Those in percent have no place on the axis. */
export function thresholdLines({ thresholds }: FieldConfig, theme: GrafanaTheme2): Threshold[] {
  if (thresholds?.mode !== ThresholdsMode.Absolute) {
    return [];
  }
  return thresholds.steps
    .filter(({ value }) => Number.isFinite(value))
    .map(({ value, color }) => ({ value, color: theme.visualization.getColorByName(color) }));
}
