import {
  type FieldConfig,
  FieldType,
  formattedValueToString,
  getDisplayProcessor,
  type GrafanaTheme2,
} from '@grafana/data';
import type { Percentile } from '../compute/percentile.ts';

/** Writes a value with the field's unit and decimals. */
export type ValueFormat = (value: number) => string;

export function valueFormat(config: FieldConfig, theme: GrafanaTheme2): ValueFormat {
  const { unit, decimals } = config;
  const field = {
    type: FieldType.number,
    config: { ...(unit !== undefined && { unit }), ...(decimals != null && { decimals }) },
  };
  const display = getDisplayProcessor({ field, theme });
  return (value) => formattedValueToString(display(value));
}

/** An interval (low, high]; "> low" when it reaches into the overflow bucket. */
export function intervalText({ low, high }: Percentile, format: ValueFormat): string {
  if (high === Infinity) {
    return `> ${format(low)}`;
  }
  return low === -Infinity ? `≤ ${format(high)}` : `${format(low)} – ${format(high)}`;
}

/** The estimate; "> edge" in the overflow bucket, whose lower edge is all that is known. */
export function estimateText({ estimate, overflow }: Percentile, format: ValueFormat): string {
  return overflow ? `> ${format(estimate)}` : format(estimate);
}
