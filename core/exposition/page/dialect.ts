import type { ExpositionFormat } from '../exposition.ts';
import type { ParseOptions } from '../parse-options.ts';

/** What the two formats allow in a line. */
export interface Dialect {
  readonly format: ExpositionFormat;
  /** Blanks where Prometheus' text parser skips them, blank lines, comments, raw line feeds in label values. */
  readonly blanks: boolean;
  /** Strict OpenMetrics, instead of the way Prometheus reads it. */
  readonly strict: boolean;
}

export const TEXT: Dialect = { format: 'text-0.0.4', blanks: true, strict: false };

export function openMetricsDialect(rules: NonNullable<ParseOptions['rules']>): Dialect {
  return { format: 'openmetrics-1.0.0', blanks: false, strict: rules === 'specification' };
}
