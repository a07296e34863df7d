import type { Dataset, PromptReuse } from './dataset.ts';

/** What a prefix cache of unlimited size would have served, in tokens of the prompts as planned. */
export interface PossibleReuse {
  readonly cached: number;
  readonly prompt: number;
}

/** Requests of each phase that were sent. */
export interface SentCounts {
  readonly warmup: number;
  readonly measure: number;
}

/** vLLM's default on GPUs. */
export const DEFAULT_CACHE_BLOCK_TOKENS = 16;

/** So many are gone through after a run; of more the possible reuse is not known. */
const MAX_REQUESTS = 5_000_000;

/**
 * The prompt tokens of the measure phase that a prefix cache could have held: each request reuses what any request before
 * it in the plan had, the probe and the warm-up included, in whole blocks of `blockTokens`. The last token of a prompt is
 * always computed, as in vLLM. Null when the dataset does not state what its prompts share.
 */
export function possibleReuse(
  { shared }: Pick<Dataset, 'shared'>,
  sent: SentCounts,
  blockTokens: number,
): PossibleReuse | null {
  if (shared === undefined || sent.warmup + sent.measure > MAX_REQUESTS) return null;
  const cache = new UnlimitedCache(blockTokens);
  for (const reuse of shared('probe', 0).slice(0, 1)) cache.add(reuse);
  let cached = 0;
  let prompt = 0;
  for (const phase of ['warmup', 'measure'] as const) {
    for (let number = 0, position = 0; position < sent[phase]; number++) {
      for (const reuse of shared(phase, number).slice(0, sent[phase] - position)) {
        const hit = cache.add(reuse);
        position++;
        if (phase === 'warmup') continue;
        cached += hit;
        prompt += reuse.tokens;
      }
    }
  }
  return prompt === 0 ? null : { cached, prompt };
}

type Node = Map<string | number, Node>;

/** Holds every text that it has seen. */
class UnlimitedCache {
  readonly #root: Node = new Map();
  readonly #blockTokens: number;

  constructor(blockTokens: number) {
    this.#blockTokens = blockTokens;
  }

  /** The tokens of the prompt that were there; afterwards all are. */
  add({ tokens, segments, earlier }: PromptReuse): number {
    let known = 0;
    let node = this.#root;
    let isKnown = true;
    for (const { key, tokens: length } of segments) {
      let next = node.get(key);
      if (next === undefined) {
        isKnown = false;
        node.set(key, (next = new Map() as Node));
      }
      if (isKnown) known += length;
      node = next;
    }
    const most = Math.min(Math.max(known, earlier), tokens - 1);
    return Math.max(0, most - (most % this.#blockTokens));
  }
}
