import type { Dataset } from './dataset.ts';
import { planSha256 } from './plan.ts';
import { seededRandom } from './seeded-random.ts';
import { WORDS } from './words.ts';

export const DEFAULT_INPUT_TOKENS = 550;
export const DEFAULT_OUTPUT_TOKENS = 128;

export interface SyntheticOptions {
  /** `--isl`: tokens of the prompt that are aimed at, at about a token a word. */
  readonly inputTokens: number;
  /** `--osl`: `max_tokens` of each request. */
  readonly outputTokens: number;
  readonly seed: number;
}

/**
 * Prompts of random words. No text recurs within a run or between its phases, so that none finds its beginning in a prefix
 * cache; the same seed gives the same texts.
 */
export function syntheticDataset(options: SyntheticOptions): Dataset {
  const { inputTokens, outputTokens, seed } = options;
  return {
    planSha256: planSha256({ generator: 'synthetic-words-1', order: 'sequential', inputTokens, outputTokens, seed }),
    request(phase, position) {
      const random = seededRandom(`${seed}/${phase}/${position}`);
      const words = Array.from({ length: inputTokens }, () => WORDS[Math.floor(random() * WORDS.length)]);
      return { prompt: words.join(' '), max_tokens: outputTokens };
    },
  };
}
