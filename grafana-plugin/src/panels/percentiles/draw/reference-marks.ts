import type { GrafanaTheme2 } from '@grafana/data';
import type { Threshold } from './thresholds.ts';
import type { ValueFormat } from './value-text.ts';

/** Values that are marked across a drawing. */
export interface ReferenceMarks {
  /** The service level objective. */
  slo: number | undefined;
  /** Last finite bucket bounds that a percentile has exceeded. */
  overflowEdges: readonly number[];
  thresholds: readonly Threshold[];
  format: ValueFormat;
}

/** Small text that stays readable over lines and bands. */
export function referenceText(theme: GrafanaTheme2) {
  return {
    fontSize: 11,
    fontFamily: theme.typography.fontFamily,
    paintOrder: 'stroke',
    stroke: theme.colors.background.primary,
    strokeWidth: 4,
    strokeLinejoin: 'round' as const,
  };
}
