import type { Collection } from '../collection.ts';
import { gained, systemsOf } from './gained-quantities.ts';

/**
 * Families of cached and of all prompt tokens, counters first; a system that only observes them per request exposes
 * them as sums.
 */
const PAIRS = [
  { cached: 'cached_prompt_tokens_total', all: 'prompt_tokens_total' },
  { cached: 'cached_input_tokens', all: 'input_tokens' },
] as const;

/**
 * The share of the window's prompt tokens that the servers took from a cache, by the counters that the catalog names
 * for it. Null: no system exposes both, or no prompt token was counted.
 */
export function cacheShare(collection: Collection): number | null {
  for (const { cached, all } of PAIRS) {
    for (const system of systemsOf(cached)) {
      const [part, whole] = [gained(collection, cached, system), gained(collection, all, system)];
      if (part !== null && whole !== null && whole > 0) return part / whole;
    }
  }
  return null;
}
