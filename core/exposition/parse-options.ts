/** Limits of one page: exceeding one rejects the whole page. Lengths are bytes of UTF-8. */
export interface ParseLimits {
  readonly maxBytes: number;
  readonly maxSamples: number;
  /** Labels of one sample, its name not counted. */
  readonly maxLabels: number;
  /** Also of metric names. */
  readonly maxLabelNameBytes: number;
  readonly maxLabelValueBytes: number;
}

export const DEFAULT_PARSE_LIMITS: ParseLimits = {
  maxBytes: 128 * 1024 * 1024,
  maxSamples: 2_000_000,
  maxLabels: 128,
  maxLabelNameBytes: 1024,
  maxLabelValueBytes: 64 * 1024,
};

export interface ParseOptions {
  readonly limits?: Partial<ParseLimits>;
  /**
   * OpenMetrics only: `specification` rejects a page that breaks a MUST of OpenMetrics 1.0; `prometheus` rejects what
   * Prometheus' parser rejects (syntax, `# EOF`, UNIT) and leaves the semantics unchecked.
   */
  readonly rules?: 'specification' | 'prometheus';
}

export function parseLimits(options: ParseOptions | undefined): ParseLimits {
  return { ...DEFAULT_PARSE_LIMITS, ...options?.limits };
}
