import type { MediaTokens, PromptMedia } from './media.ts';
import type { Message } from './json-body.ts';

/** A prompt as the engine needs it. */
export interface Prompt {
  readonly tokens: number;
  /** One hash per full block, each over everything from the beginning. */
  readonly blockHashes: number[];
  /** Of the tokens, those of images and audio; absent: there are none. */
  readonly mediaTokens?: MediaTokens;
}

/** What the chat template puts around each message, and before the response. */
const TEMPLATE_TOKENS = 4;

/**
 * Splits messages into tokens: each word and each punctuation mark is one, and four around each message. That is no
 * tokenizer of any model: it is the same for the same text, and about right for English. The tokens of images
 * and audio follow the text of their message.
 */
export function readPrompt(messages: readonly Message[], blockSize: number): Prompt {
  const prompt = new GrowingPrompt(blockSize);
  for (const { role, text, media = [] } of messages) {
    for (let i = 1; i < TEMPLATE_TOKENS; i++) prompt.add('<template>');
    prompt.add(role);
    prompt.addText(text);
    for (const each of media) prompt.addMedia(each);
  }
  return prompt;
}

/** Splits a text that goes to the model as it is, without a chat template; an empty one is one token. */
export function readPlainPrompt(text: string, blockSize: number): Prompt {
  const prompt = new GrowingPrompt(blockSize);
  prompt.addText(text);
  if (prompt.tokens === 0) prompt.add('<start>');
  return prompt;
}

class GrowingPrompt implements Prompt {
  tokens = 0;
  mediaTokens?: MediaTokens;
  readonly blockHashes: number[] = [];
  readonly #blockSize: number;
  readonly #hash = new RunningHash();

  constructor(blockSize: number) {
    this.#blockSize = blockSize;
  }

  add(token: string): void {
    this.#hash.update(token);
    this.tokens++;
    if (this.tokens % this.#blockSize === 0) this.blockHashes.push(this.#hash.value);
  }

  addMedia({ kind, key, tokens }: PromptMedia): void {
    for (let i = 0; i < tokens; i++) this.add(key);
    this.mediaTokens = { ...this.mediaTokens, [kind]: (this.mediaTokens?.[kind] ?? 0) + tokens };
  }

  addText(text: string): void {
    for (const [token] of text.matchAll(/[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu)) this.add(token);
  }
}

/** A hash of 53 bits over a sequence of strings (cyrb53: two multiplicative halves, mixed at the end). */
class RunningHash {
  #high = 0x41c6ce57;
  #low = 0xdeadbeef;

  update(text: string): void {
    for (let i = 0; i <= text.length; i++) {
      // A code beyond UTF-16 ends each string, so that "a b" and "ab" differ.
      const code = i < text.length ? text.charCodeAt(i) : 0x10000;
      this.#low = Math.imul(this.#low ^ code, 2654435761);
      this.#high = Math.imul(this.#high ^ code, 1597334677);
    }
  }

  get value(): number {
    let low = Math.imul(this.#low ^ (this.#low >>> 16), 2246822507);
    low ^= Math.imul(this.#high ^ (this.#high >>> 13), 3266489909);
    let high = Math.imul(this.#high ^ (this.#high >>> 16), 2246822507);
    high ^= Math.imul(low ^ (low >>> 13), 3266489909);
    return 4294967296 * (2097151 & high) + (low >>> 0);
  }
}
