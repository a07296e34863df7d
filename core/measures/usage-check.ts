import type { ScalarResult } from '../run/result.ts';
import type { PerRequestMeasure, ScalarMeasure } from './measures.ts';
import { things } from '../text/things.ts';
import type { ComparedTokens, RequestFigures } from './request-figures.ts';
import { scalarResult } from './scalar-result.ts';

/** Chunks that may carry text without a token of their own: what was held back is sent at the end. */
const CHUNKS_WITHOUT_TOKEN = 2;
const RATIO_OF_CHUNKS_WITHOUT_TOKEN = 0.05;
/** Fewer chunks may arrive together by chance. */
const FEWEST_CHUNKS = 4;
/** No server generates tokens for one user at this pace. */
export const FASTEST_TOKEN_NS = 100_000;

/**
 * The output tokens that were sent as text. Some servers count reasoning that they do not send: then the first content is
 * output, and there are no more chunks than tokens of the output.
 */
export function streamedTokens(
  { output_tokens: output, reasoning_tokens: reasoning }: Pick<RequestFigures, 'output_tokens' | 'reasoning_tokens'>,
  chunks: number,
  beganWithOutput: boolean,
): number | null {
  if (output === null || reasoning === null || reasoning === 0 || !beganWithOutput || chunks === 0) return output;
  return chunks <= output - reasoning ? output - reasoning : output;
}

/**
 * Why a server's count of output tokens cannot be true: it has fewer tokens than there were chunks with content, or more than any
 * server generates in the time between them. Null when it can. `firstOutput_ns`: offset of the first output; null: none.
 */
export function usageContradiction(
  usage: Pick<RequestFigures, 'output_tokens' | 'reasoning_tokens'>,
  offsets_ns: readonly number[],
  firstOutput_ns: number | null,
): string | null {
  const chunks = offsets_ns.length;
  const [first = NaN, last = NaN] = [offsets_ns[0], offsets_ns.at(-1)];
  const { output_tokens: counted } = usage;
  if (counted === null || chunks === 0) return null;
  const spare = Math.max(CHUNKS_WITHOUT_TOKEN, RATIO_OF_CHUNKS_WITHOUT_TOKEN * chunks);
  if (counted + spare < chunks) return `${things(counted, 'tokens')} in ${chunks} chunks`;
  const tokens = streamedTokens(usage, chunks, first === firstOutput_ns) ?? NaN;
  const isSpread = chunks >= FEWEST_CHUNKS && (last - first) / (chunks - 1) >= 10 * FASTEST_TOKEN_NS;
  if (!isSpread || (last - first) / (tokens - 1) >= FASTEST_TOKEN_NS) return null;
  return `${things(tokens, 'tokens')} within ${Math.round((last - first) / 1e6)} ms`;
}

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

/** Of the answers: their texts have no template around them, so that a difference means another tokenizer, or a wrong count. */
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
