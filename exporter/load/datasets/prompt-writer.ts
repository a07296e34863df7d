import type { Random } from '../../../core/stats/seeded-random.ts';
import type { Tokenizer } from '../tokenizers/tokenizer.ts';
import { WORDS } from './words.ts';

/** The words as they follow another one. */
const FOLLOWING_WORDS = WORDS.map((word) => ` ${word}`);
/** Pieces for a token that no word fits; which of them is a single token depends on the tokenizer. */
const FILLERS = [' a', ' I', '.', ',', ' s', ' x', ' 1', '!', ' the', '\n', ' .', '1', 'a'];
/** The first texts are all checked, and after them one in this many. */
const CHECKED = 64;
/** Further attempts do not improve the result. */
const MAX_CORRECTIONS = 24;

/** A text and its tokens, if a tokenizer counted them. */
export interface WrittenText {
  readonly text: string;
  readonly tokens: number | undefined;
}

/**
 * Writes texts of random words with a given number of tokens. With a tokenizer the number is exact: the tokens that
 * each word adds to a text are summed, and the sum is checked against the whole text (every text after a sum was wrong,
 * otherwise a sample). Without one, a word counts as a token.
 */
export class PromptWriter {
  readonly #tokenizer: Tokenizer | null;
  /** Tokens that a word adds within a text; computed on first use. */
  readonly #added: (number | undefined)[] = [];
  #cheapest: readonly number[] | null = null;
  #filler: string | null | undefined = undefined;
  #written = 0;
  #sumsHold = true;

  constructor(tokenizer: Tokenizer | null) {
    this.#tokenizer = tokenizer;
  }

  /** A text with the given number of tokens. `continues`: it begins with a space, to follow another text. */
  write(random: Random, tokens: number, continues = false): WrittenText {
    if (this.#tokenizer === null) return { text: randomWords(random, tokens, continues), tokens: undefined };
    return this.#exact(this.#tokenizer, random, tokens, continues);
  }

  /** Undefined without a tokenizer. */
  count(text: string): number | undefined {
    return this.#tokenizer?.count(text);
  }

  #exact(tokenizer: Tokenizer, random: Random, tokens: number, continues: boolean): WrittenText {
    let text = '';
    let left = tokens;
    while (left > 0) {
      const index = this.#wordOfAtMost(tokenizer, random, left);
      if (index === null) break;
      const isFirst = text === '' && !continues;
      const word = wordAt(index, isFirst);
      const adds = isFirst ? tokenizer.count(word) : this.#adds(tokenizer, index);
      if (adds > left && text === '') break;
      text += word;
      left -= adds;
    }
    if (this.#sumsHold && left === 0 && this.#written++ >= CHECKED && this.#written % CHECKED !== 0)
      return { text, tokens };
    return this.#corrected(tokenizer, text, tokens, continues);
  }

  /** A random word that adds at most this many tokens; null when there is none. */
  #wordOfAtMost(tokenizer: Tokenizer, random: Random, most: number): number | null {
    const index = Math.floor(random() * WORDS.length);
    if (this.#adds(tokenizer, index) <= most) return index;
    this.#cheapest ??= [...WORDS.keys()].sort((a, b) => this.#adds(tokenizer, a) - this.#adds(tokenizer, b));
    const fitting = this.#cheapest.findIndex((candidate) => this.#adds(tokenizer, candidate) > most);
    const choices = fitting < 0 ? this.#cheapest.length : fitting;
    return this.#cheapest[Math.floor(random() * choices)] ?? null;
  }

  /** The tokens that a word adds after another one. */
  #adds(tokenizer: Tokenizer, index: number): number {
    return (this.#added[index] ??= tokenizer.count(`the ${WORDS[index] ?? ''}`) - tokenizer.count('the'));
  }

  #corrected(tokenizer: Tokenizer, begun: string, tokens: number, continues: boolean): WrittenText {
    // The tokens that a text adds after another one, which it is to continue.
    const before = continues ? 'the' : '';
    const offset = continues ? tokenizer.count(before) : 0;
    const lengthOf = (text: string): number => tokenizer.count(before + text) - offset;
    let text = begun;
    let length = lengthOf(text);
    let best: WrittenText = { text, tokens: length };
    const miss = (): number => Math.abs((best.tokens ?? NaN) - tokens);
    if (miss() > 0 && begun !== '') this.#sumsHold = false;
    for (let i = 0; i < MAX_CORRECTIONS && miss() > 0; i++) {
      text = length > tokens ? withoutLastWord(text) : text + this.#fillerFor(lengthOf, text, tokens - length);
      length = lengthOf(text);
      if (Math.abs(length - tokens) < miss()) best = { text, tokens: length };
    }
    return best;
  }

  /**
   * Pieces that bring a text closer to its length: as many as are missing of a piece that adds one token, otherwise a
   * single piece.
   */
  #fillerFor(lengthOf: (text: string) => number, text: string, missing: number): string {
    const length = lengthOf(text);
    if (this.#filler === undefined)
      this.#filler = FILLERS.find((filler) => lengthOf(text + filler.repeat(3)) === length + 3) ?? null;
    if (this.#filler !== null) {
      const filled = this.#filler.repeat(missing);
      if (lengthOf(text + filled) === length + missing) return filled;
    }
    const fitting = FILLERS.filter(
      (filler) => lengthOf(text + filler) > length && lengthOf(text + filler) <= length + missing,
    );
    return fitting[0] ?? FILLERS[0] ?? '';
  }
}

/** Adding to a text is faster than joining a list of words. */
function randomWords(random: Random, words: number, continues: boolean): string {
  let text = '';
  for (let i = 0; i < words; i++) {
    text += wordAt(Math.floor(random() * WORDS.length), i === 0 && !continues);
  }
  return text;
}

function wordAt(index: number, isFirst: boolean): string {
  return (isFirst ? WORDS : FOLLOWING_WORDS)[index] ?? '';
}

function withoutLastWord(text: string): string {
  const space = text.lastIndexOf(' ');
  return space > 0 ? text.slice(0, space) : text.slice(0, -1);
}
