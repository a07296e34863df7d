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
export function intervalText({ low, high }: { low: number; high: number }, format: ValueFormat): string {
  if (high === Infinity) {
    return `> ${format(low)}`;
  }
  return low === -Infinity ? `≤ ${format(high)}` : `${format(low)} – ${format(high)}`;
}

/** The estimate; "> edge" in the overflow bucket, whose lower edge is all that is known. */
export function estimateText({ estimate, overflow }: Percentile, format: ValueFormat): string {
  return overflow ? `> ${format(estimate)}` : format(estimate);
}

/** The bucket (low, high] that holds the rank of the estimate. */
export function rankBucketText(
  { estimate, overflow }: Percentile,
  bounds: readonly number[],
  format: ValueFormat
): string {
  const index = overflow ? bounds.length - 1 : bounds.findIndex((bound) => bound >= estimate);
  const high = bounds[index] ?? Infinity;
  const low = index > 0 ? (bounds[index - 1] ?? NaN) : high > 0 ? 0 : -Infinity;
  return high === Infinity ? `(${format(low)}, ∞)` : `(${low === -Infinity ? '−∞' : format(low)}, ${format(high)}]`;
}
