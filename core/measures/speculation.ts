import type { ScalarResult, SpeculationResult } from '../run/result.ts';
import type { ScalarMeasure } from './measures.ts';
import { quotient, scalarResult } from './scalar-measures.ts';

/** How much of what a drafter proposed the model kept. The names are vLLM's and SGLang's. */
export const SPECULATION_MEASURES = {
  speculative_acceptance_rate: {
    measure: 'speculative_acceptance_rate',
    unit: 'ratio',
    definition: 'accepted_draft_tokens_over_draft_tokens',
    formula: "accepted ÷ proposed draft tokens, from the servers' counters over the measure phase",
    direction: 'higher',
  },
  speculative_acceptance_length: {
    measure: 'speculative_acceptance_length',
    unit: 'tokens',
    definition: 'accepted_draft_tokens_over_drafts_plus_one',
    formula:
      "accepted draft tokens ÷ drafts + 1, the token that the model itself gives after each draft, from the servers' counters over the measure phase",
    direction: 'higher',
  },
} as const satisfies Record<string, ScalarMeasure>;

/** The measures of a run; none when no server counts drafts. Both are null when none was proposed. */
export function speculationResults(counts: SpeculationResult | null): ScalarResult[] {
  if (counts === null) return [];
  const { drafts, draft_tokens, accepted_tokens } = counts;
  const perDraft = quotient(accepted_tokens, drafts);
  const over = { origin: 'server', population: 'all' } as const;
  return [
    scalarResult(SPECULATION_MEASURES.speculative_acceptance_rate, quotient(accepted_tokens, draft_tokens), over),
    scalarResult(SPECULATION_MEASURES.speculative_acceptance_length, perDraft === null ? null : perDraft + 1, over),
  ];
}

/** Share of the drafts whose token at each position was accepted; null when it is not known, or nothing was drafted. */
export function acceptanceByPosition({ drafts, accepted_by_position: accepted }: SpeculationResult): number[] | null {
  return accepted === null || drafts <= 0 ? null : accepted.map((tokens) => tokens / drafts);
}
