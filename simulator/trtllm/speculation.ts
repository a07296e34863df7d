import type { Speculation } from '../engine/parameters.ts';

/** Share of an iteration that drafting one token takes. */
const SHARE_PER_DRAFT_TOKEN = 0.06;

/** Share of an iteration that is spent on drafting. */
export function draftOverhead({ draftTokens }: Speculation): number {
  return Math.min(0.5, draftTokens * SHARE_PER_DRAFT_TOKEN);
}
