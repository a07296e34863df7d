import {
  FieldType,
  formattedValueToString,
  getDisplayProcessor,
  type FieldConfig,
  type GrafanaTheme2,
} from '@grafana/data';
import { measureText } from '@grafana/ui';
import type { SloShare } from '../compute/percentile-series.ts';
import type { Percentile } from '../compute/percentile.ts';
import { t } from '../../../text.ts';

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

/** A share between 0 and 1 as percent, never rounded to all or nothing. */
export function percentText(share: number): string {
  const percent = share * 100;
  const fromEdge = Math.min(percent, 100 - percent);
  const digits = fromEdge < 0.1 ? 3 : fromEdge < 1 ? 2 : 1;
  const rounded = Number(percent.toFixed(digits));
  if (rounded === 100 && percent < 100) {
    return '> 99.999 %';
  }
  return rounded === 0 && percent > 0 ? '< 0.001 %' : `${rounded} %`;
}

/** The share at or below an objective: one number where a bucket bound gives it, else its lower and upper bound. */
export function shareText({ low, high, estimate, certain }: SloShare): string {
  if (!certain) {
    return t('panel.slo.about', 'about {{share}}', { share: percentText(estimate) });
  }
  return low === high ? percentText(low) : `${percentText(low)} – ${percentText(high)}`;
}

const FONT_SIZE = 12;
const LINE_HEIGHT = 18;
const PADDING = 16;
/** Words do not fill a line to its end, and a typeface that is loaded later may be wider than the one measured. */
const FILL = 0.84;

/** Height in pixels of texts that wrap within a width, one below the other. */
export function textHeight(texts: readonly string[], width: number): number {
  const room = Math.max(1, (width - PADDING) * FILL);
  const rows = texts.map((text) => Math.max(1, Math.ceil(measureText(text, FONT_SIZE).width / room)));
  return rows.reduce((total, count) => total + count * LINE_HEIGHT, 0);
}
