import type { RequestRecord } from '../run/record.ts';

/** An answer misses the requested length when it is off by more than the smaller of these, as in AIPerf. */
const MISMATCH_RATIO = 0.05;
const MISMATCH_TOKENS = 50;

/** Whether an answer misses the length requested; null when one of the two is not known. */
export function isLengthMismatched({
  output_tokens: output,
  requested_output_tokens: requested,
}: Pick<RequestRecord, 'output_tokens' | 'requested_output_tokens'>): boolean | null {
  if (output === null || requested === null || requested === 0) return null;
  return Math.abs(output - requested) > Math.min(MISMATCH_RATIO * requested, MISMATCH_TOKENS);
}
