import type { SpeculationResult } from '../../../core/run/result.ts';
import type { Collection } from '../collection.ts';
import { gained, gainedBy, systemsOf } from './gained-quantities.ts';

/** The catalog's quantities of what was proposed and accepted. */
const [DRAFTS, DRAFT_TOKENS, ACCEPTED] = ['drafts_total', 'draft_tokens_total', 'accepted_draft_tokens_total'] as const;

/** Families of accepted tokens by position, and the label that is the position, from "0". */
const BY_POSITION: ReadonlyMap<string, readonly [family: string, label: string]> = new Map([
  ['vllm', ['vllm:spec_decode_num_accepted_tokens_per_pos_total', 'position']],
  ['trtllm', ['trtllm_spec_decode_accepted_tokens_total', 'token_position']],
]);

const MAX_POSITIONS = 1024;

/** What the counters of speculative decoding gained in the window, of all replicas together. Null: no system counts it. */
export function speculationCounts(collection: Collection): SpeculationResult | null {
  for (const system of systemsOf(DRAFTS)) {
    const count = (quantity: string): number | null => gained(collection, quantity, system);
    const [drafts, draft_tokens, accepted] = [count(DRAFTS), count(DRAFT_TOKENS), count(ACCEPTED)];
    // TensorRT-LLM has no series of a position at which nothing was accepted yet.
    const accepted_tokens = accepted ?? (system === 'trtllm' ? 0 : null);
    if (drafts === null || draft_tokens === null || accepted_tokens === null) continue;
    return { drafts, draft_tokens, accepted_tokens, accepted_by_position: byPosition(collection, system) };
  }
  return null;
}

function byPosition(collection: Collection, system: string): number[] | null {
  const [family, label] = BY_POSITION.get(system) ?? [];
  if (family === undefined || label === undefined) return null;
  const gains = gainedBy(collection, family, label);
  const last = Math.max(...[...gains.keys()].map(Number));
  // What comes from a server may be any text; no drafter proposes more.
  if (!(last >= 0 && last < MAX_POSITIONS)) return null;
  return Array.from({ length: last + 1 }, (_, position) => gains.get(`${position}`) ?? 0);
}

const SGLANG_VERIFIED = 'sglang:spec_verify_calls_total';

/** A line when servers decode speculatively and count no accepted tokens, so that the run has no measure of it. */
export function acceptanceUnknown(collection: Collection): readonly string[] {
  const verified = gainedBy(collection, SGLANG_VERIFIED, '').get('') ?? 0;
  return verified > 0
    ? [
        'servers: SGLang counts verifications and no accepted draft tokens, and its gauges (sglang:spec_accept_length) are of the last report only: acceptance is not measured',
      ]
    : [];
}
