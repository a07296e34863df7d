import type { ScalarResult } from '../run/result.ts';
import type { PerRequestMeasure, ScalarMeasure } from './measures.ts';
import type { ComparedTokens } from './request-figures.ts';
import { scalarResult } from './scalar-measures.ts';

/** A server whose count is off by more is one to ask about: AIPerf's limit. */
const DISCREPANCY_RATIO = 0.1;

interface UsageDifference extends PerRequestMeasure {
  readonly value: (tokens: ComparedTokens) => number | null;
}

function difference(
  measure: string,
  what: string,
  reported: (tokens: ComparedTokens) => number | null,
  counted: (tokens: ComparedTokens) => number | null,
): UsageDifference {
  return {
    measure,
    unit: 'ratio',
    definition: 'absolute_usage_minus_counted_over_counted',
    formula: `|server's ${what} − client-side tokenizer's count| ÷ the latter`,
    direction: 'none',
    clock: 'sent',
    value(tokens) {
      const [usage, own] = [reported(tokens), counted(tokens)];
      return usage === null || own === null || own === 0 ? null : Math.abs(usage - own) / own;
    },
  };
}

/** Of the responses: their texts have no template around them, so that a difference means another tokenizer, or a wrong count. */
export const USAGE_COMPLETION_DIFFERENCE = difference(
  'usage_completion_tokens_diff_ratio',
  'output tokens (including reasoning)',
  (r) => r.output_tokens,
  (r) => r.counted_output_tokens,
);

/**
 * The server's counts of tokens against those of a tokenizer on this side: there only when one counted too. Meanings are
 * AIPerf's `usage_…_diff_pct`, as ratios. The chat template and special tokens are in the server's number alone.
 */
export const USAGE_CHECK_MEASURES: readonly UsageDifference[] = [
  difference(
    'usage_prompt_tokens_diff_ratio',
    'input tokens',
    (r) => r.input_tokens,
    (r) => r.counted_input_tokens,
  ),
  USAGE_COMPLETION_DIFFERENCE,
  difference(
    'usage_reasoning_tokens_diff_ratio',
    'reasoning tokens',
    (r) => r.reasoning_tokens,
    (r) => r.counted_reasoning_tokens,
  ),
];

/** Reported beside them. */
export const USAGE_DISCREPANCY_COUNT: ScalarMeasure = {
  measure: 'usage_discrepancy_count',
  unit: 'requests',
  definition: 'ok_requests_with_a_difference_above_10_percent',
  formula: 'ok requests with at least one of these differences above 10 %',
  direction: 'none',
};

/** Whether one of a request's differences is above 10 %; null when none is known. `measures`: which ones; default: all. */
export function isUsageDiscrepant(tokens: ComparedTokens, measures = USAGE_CHECK_MEASURES): boolean | null {
  const known = measures.flatMap(({ value }) => value(tokens) ?? []);
  return known.length === 0 ? null : known.some((ratio) => ratio > DISCREPANCY_RATIO);
}

export function usageDiscrepancyResult(requests: number): ScalarResult {
  return scalarResult(USAGE_DISCREPANCY_COUNT, requests);
}
