import { seededRandom } from '../../../core/stats/seeded-random.ts';
import type { Tokenizer } from '../tokenizers/tokenizer.ts';
import { PromptWriter } from './prompt-writer.ts';

/** Number of block texts cached for later requests with the same id. */
const MOST_BLOCKS = 4096;

/** Prompts made of blocks: the same id always has the same text; what follows the blocks is unique to the request. */
export class BlockPrompts {
  readonly #seed: number;
  readonly #blockTokens: number;
  readonly #writer: PromptWriter;
  readonly #known = new Map<number, string>();

  constructor(seed: number, blockTokens: number, tokenizer: Tokenizer | null) {
    this.#seed = seed;
    this.#blockTokens = blockTokens;
    this.#writer = new PromptWriter(tokenizer);
  }

  prompt(inputTokens: number, hashIds: Iterable<number>, index: number): string {
    let left = inputTokens;
    let text = '';
    for (const id of hashIds) {
      const tokens = Math.min(left, this.#blockTokens);
      text += this.#block(id, tokens);
      left -= tokens;
    }
    if (left > 0) text += this.#writer.write(seededRandom(`${this.#seed}/rest/${index}`), left, text !== '').text;
    return text.trimStart();
  }

  /** A partial block is the beginning of the text of the full one. */
  #block(id: number, tokens: number): string {
    const random = seededRandom(`${this.#seed}/block/${id}`);
    if (tokens < this.#blockTokens) return this.#writer.write(random, tokens, true).text;
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const { text } = this.#writer.write(random, this.#blockTokens, true);
    if (this.#known.size >= MOST_BLOCKS) this.#known.clear();
    this.#known.set(id, text);
    return text;
  }
}
