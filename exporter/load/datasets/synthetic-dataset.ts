import type { GenerationRequest, Message } from '../endpoints/endpoint.ts';
import { drawNormal, seededRandom } from '../../../core/stats/seeded-random.ts';
import type { Random } from '../../../core/stats/seeded-random.ts';
import type { Tokenizer } from '../tokenizers/tokenizer.ts';
import {
  type Conversation,
  type Dataset,
  planSha256,
  type PromptReuse,
  type PromptSegment,
  turnInOrder,
} from './dataset.ts';
import { drawLength, drawLengths, onlyLengths } from './lengths.ts';
import type { Lengths, LengthSpread, WeightedPair } from './lengths.ts';
import { leavesOf, PathDraw, pathOfLeaf, type PrefixTree } from './prefix-tree.ts';
import { PromptWriter } from './prompt-writer.ts';
import type { WrittenText } from './prompt-writer.ts';

export const DEFAULT_INPUT_TOKENS = 550;
export const DEFAULT_OUTPUT_TOKENS = 128;

export interface SyntheticOptions {
  /** `--isl`: tokens of the prompt, without shared prefixes; without a tokenizer about one token per word. */
  readonly inputTokens: number;
  /** `--osl`: `max_tokens` of each request. */
  readonly outputTokens: number;
  readonly seed: number;
  /** `--isl-stddev`, `--osl-stddev`. */
  readonly inputStddev?: number;
  readonly outputStddev?: number;
  /** `--seq-dist`, instead of the four above; null or absent: not set. */
  readonly distribution?: readonly WeightedPair[] | null;
  /** `--shared-system-prompt-length`: a system prompt that all requests share; 0: none. */
  readonly systemPromptTokens?: number;
  /** `--num-prefix-prompts` with `--prefix-prompt-length`, or `--prefix-tree`: each prompt begins with one of these; absent: none. */
  readonly prefixes?: PrefixTree;
  /** `--prime-prefixes`: the warm-up begins with one short request for each of them, in order; absent: it does not. */
  readonly primed?: boolean;
  /**
   * `--user-context-prompt-length`: a text that all turns of one conversation share, and no other conversation has; 0:
   * none.
   */
  readonly userContextTokens?: number;
  /** For endpoints that read texts: how many a request has, and the tokens of the query; null or absent: a prompt. */
  readonly documents?: DocumentShape | null;
  /** Conversations of several turns; null or absent: single requests. */
  readonly conversations?: ConversationShape | null;
  /**
   * `--num-dataset-entries`: how many different requests, or conversations, exist before they recur; null or absent:
   * they never recur.
   */
  readonly entries?: number | null;
  /** Index of the repeat of a plan: the lengths stay the same and the texts differ; `--same-prompts` keeps it at 0. */
  readonly repeat?: number;
  /** Makes lengths exact; null or absent: none. */
  readonly tokenizer?: Tokenizer | null;
}

/** Texts of a request, `--isl` tokens each, and the query that they are compared with (null: none). */
export interface DocumentShape {
  readonly count: number;
  readonly queryTokens: number | null;
}

export interface ConversationShape {
  readonly turns: LengthSpread;
  /** The user's delay before the next turn, in seconds. */
  readonly delay: { readonly mean: number; readonly stddev: number; readonly ratio: number };
}

/**
 * Prompts of random words. No text recurs within a run or between its phases and repeats, so that no prompt hits a
 * prefix cache, except for text that is shared on purpose. The same seed gives the same texts, in any order.
 */
export function syntheticDataset(options: SyntheticOptions): Dataset {
  const texts = new SyntheticTexts(options);
  const { conversations = null, documents = null, entries = null } = options;
  const entryAt = (position: number): number => (entries === null ? position : position % entries);
  const dataset: Dataset = {
    planSha256: planSha256(planOf(options)),
    size: entries,
    longestOutputTokens: longestOutput(options),
    request: (phase, position) =>
      documents === null
        ? texts.conversation(phase, entryAt(position), 1).request(0, [])
        : texts.documents(phase, entryAt(position), documents),
    ...(texts.areShared && documents === null
      ? { shared: (phase, position) => texts.reuse(phase, entryAt(position), 1) }
      : {}),
  };
  if (conversations === null) return dataset;
  /** With the source of what follows. */
  const turnsOf = (phase: string, entry: number): readonly [turns: number, random: Random] => {
    const random = seededRandom(`${options.seed}/${phase}/${entry}/turns`);
    const turns = drawLength(conversations.turns, random);
    return [texts.isPriming(phase, entry) ? 1 : turns, random];
  };
  return {
    ...dataset,
    shared: (phase, position) => texts.reuse(phase, entryAt(position), turnsOf(phase, entryAt(position))[0]),
    conversation(phase, position) {
      const entry = entryAt(position);
      const [turns, random] = turnsOf(phase, entry);
      const { mean, stddev, ratio } = conversations.delay;
      const delays = Array.from({ length: turns }, () => Math.max(0, drawNormal(mean, stddev, random) * ratio));
      return {
        ...texts.conversation(phase, entry, turns),
        place: (turn) => turnInOrder(turn, delays[turn] ?? 0),
      };
    },
  };
}

/** Random lengths have no maximum. */
function longestOutput({ distribution, outputTokens, outputStddev = 0 }: SyntheticOptions): number | null {
  const outputs = distribution?.map(({ output }) => output) ?? [{ mean: outputTokens, stddev: outputStddev }];
  return outputs.some(({ stddev }) => stddev > 0) ? null : Math.max(...outputs.map(({ mean }) => Math.round(mean)));
}

/** Everything that determines lengths and texts, except the repeat. */
function planOf(options: SyntheticOptions): Readonly<Record<string, string | number | null>> {
  const { inputTokens, outputTokens, seed, distribution, prefixes, conversations, tokenizer } = options;
  return {
    generator: 'synthetic-words-2',
    order: 'sequential',
    inputTokens: distribution == null ? inputTokens : null,
    outputTokens: distribution == null ? outputTokens : null,
    inputStddev: options.inputStddev ?? 0,
    outputStddev: options.outputStddev ?? 0,
    distribution: distribution == null ? null : JSON.stringify(distribution),
    systemPromptTokens: options.systemPromptTokens ?? 0,
    prefixes: prefixes === undefined ? NO_PREFIXES : prefixesKey(prefixes),
    ...(options.primed === true ? { primed: 1 } : {}),
    userContextTokens: options.userContextTokens ?? 0,
    conversations: conversations == null ? null : JSON.stringify(conversations),
    entries: options.entries ?? null,
    // Plans without documents keep the hash that they had before there were any.
    ...(options.documents == null ? {} : { documents: JSON.stringify(options.documents) }),
    tokenizer: tokenizer?.identity ?? null,
    seed,
  };
}

/** As plans without prefixes have always had it. */
const NO_PREFIXES = '0x0';

function prefixesKey({ levels, zipfAlpha }: PrefixTree): string {
  const text = levels.map(({ count, tokens }) => `${count}x${tokens}`).join(',');
  return zipfAlpha === 0 ? text : `${text} zipf ${zipfAlpha}`;
}

class SyntheticTexts {
  readonly #options: SyntheticOptions;
  readonly #writer: PromptWriter;
  readonly #pairs: readonly WeightedPair[];
  /** Null when they differ. */
  readonly #onlyLengths: Lengths | null;
  readonly #shared = new Map<string, WrittenText>();
  readonly #paths: PathDraw | null;
  readonly #leaves: number;

  constructor(options: SyntheticOptions) {
    this.#options = options;
    this.#writer = new PromptWriter(options.tokenizer ?? null);
    this.#pairs = options.distribution ?? [
      {
        input: { mean: options.inputTokens, stddev: options.inputStddev ?? 0 },
        output: { mean: options.outputTokens, stddev: options.outputStddev ?? 0 },
        share: 1,
      },
    ];
    this.#onlyLengths = onlyLengths(this.#pairs);
    const { prefixes, primed = false } = options;
    this.#paths = prefixes === undefined ? null : new PathDraw(prefixes);
    this.#leaves = primed && prefixes !== undefined ? leavesOf(prefixes.levels) : 0;
  }

  /** Whether requests of different conversations have text in common. */
  get areShared(): boolean {
    const { systemPromptTokens = 0, prefixes, entries = null } = this.#options;
    return systemPromptTokens > 0 || prefixes !== undefined || entries !== null;
  }

  /** Whether the request only puts a prefix into caches. */
  isPriming(phase: string, position: number): boolean {
    return phase === 'warmup' && position < this.#leaves;
  }

  /** What the prompt of each turn shares with others, by the planned lengths. */
  reuse(phase: string, position: number, turns: number): readonly PromptReuse[] {
    const { seed, prefixes, systemPromptTokens = 0, userContextTokens = 0, entries = null } = this.#options;
    const nextLengths = this.#lengths(`${seed}/${phase}/${position}/lengths`);
    const path = this.#path(phase, position);
    const segments: PromptSegment[] = [];
    if (systemPromptTokens > 0) segments.push({ key: 'system', tokens: systemPromptTokens });
    path.forEach((branch, i) => segments.push({ key: branch, tokens: prefixes?.levels[i]?.tokens ?? 0 }));
    let tokens = segments.reduce((sum, segment) => sum + segment.tokens, userContextTokens);
    let earlier = 0;
    return Array.from({ length: turns }, (_, turn): PromptReuse => {
      const { input, output } = nextLengths();
      if (turn === 0 && entries !== null)
        segments.push({ key: `${phase}/${position}`, tokens: userContextTokens + input });
      tokens += input;
      const reuse = { tokens, segments, earlier };
      earlier = tokens += this.isPriming(phase, position) ? 1 : output;
      return reuse;
    });
  }

  conversation(phase: string, position: number, turns: number): Conversation {
    const { seed, repeat = 0 } = this.#options;
    // Lengths are the same in each repeat, texts are not.
    const nextLengths = this.#lengths(`${seed}/${phase}/${position}/lengths`);
    const words = seededRandom(`${seed}/${repeat}/${phase}/${position}`);
    const planned: Lengths[] = [];
    const prompts: WrittenText[] = [];
    const prepare = (turn: number): void => {
      while (planned.length <= turn) {
        const next = nextLengths();
        const before = planned.length === 0 ? this.#beginning(phase, position, words) : NOTHING;
        prompts.push(joined(before, this.#writer.write(words, next.input, before.text !== '')));
        planned.push(next);
      }
    };
    return {
      requests: turns,
      place: (turn) => turnInOrder(turn, 0),
      request: (turn, responses) => {
        prepare(turn);
        const output = this.isPriming(phase, position) ? 1 : (planned[turn]?.output ?? 1);
        return this.#request(prompts.slice(0, turn + 1), output, responses);
      },
    };
  }

  documents(phase: string, position: number, { count, queryTokens }: DocumentShape): GenerationRequest {
    const { seed, repeat = 0, tokenizer } = this.#options;
    const nextLengths = this.#lengths(`${seed}/${phase}/${position}/lengths`);
    const words = seededRandom(`${seed}/${repeat}/${phase}/${position}`);
    const query = queryTokens === null ? NOTHING : this.#writer.write(words, queryTokens);
    const documents = Array.from({ length: count }, () => this.#writer.write(words, nextLengths().input));
    // The server reads each document with the query.
    const read = documents.map(({ tokens }) => sum(tokens, query.tokens)).reduce(sum);
    return {
      prompt: query.text,
      documents: documents.map(({ text }) => text),
      max_tokens: 0,
      ...(read === undefined || tokenizer == null ? {} : { input_tokens: read }),
    };
  }

  /** The lengths of each turn in order. */
  #lengths(key: string): () => Lengths {
    const only = this.#onlyLengths;
    if (only !== null) return () => only;
    const random = seededRandom(key);
    return () => drawLengths(this.#pairs, random);
  }

  /** `prompts`: all so far; the last one is the current turn. */
  #request(prompts: readonly WrittenText[], max_tokens: number, responses: Responses): GenerationRequest {
    const system = this.#sharedText('system', this.#options.systemPromptTokens ?? 0);
    const history: Message[] = system.text === '' ? [] : [{ role: 'system', content: system.text }];
    let tokens = system.tokens;
    prompts.forEach((prompt, turn) => {
      tokens = sum(tokens, prompt.tokens);
      if (turn === prompts.length - 1) return;
      const response = responses[turn] ?? '';
      history.push({ role: 'user', content: prompt.text });
      // Servers refuse a message without text.
      if (response !== '') history.push({ role: 'assistant', content: response });
      tokens = sum(tokens, this.#writer.count(response));
    });
    return {
      prompt: prompts.at(-1)?.text ?? '',
      max_tokens,
      ...(history.length === 0 ? {} : { history }),
      ...(tokens === undefined || this.#options.tokenizer == null ? {} : { input_tokens: tokens }),
    };
  }

  /** The text that the first prompt of a conversation shares with others, followed by its own context. */
  #beginning(phase: string, position: number, words: Random): WrittenText {
    const { prefixes, userContextTokens = 0 } = this.#options;
    const path = this.#path(phase, position);
    const text = path.reduce((before, _, i) => {
      const name = `prefix/${path.slice(0, i + 1).join('/')}`;
      return joined(before, this.#sharedText(name, prefixes?.levels[i]?.tokens ?? 0, before.text !== ''));
    }, NOTHING);
    if (userContextTokens === 0) return text;
    return joined(text, this.#writer.write(words, userContextTokens, text.text !== ''));
  }

  /** The branches of the prefix of a conversation; empty without prefixes. */
  #path(phase: string, position: number): readonly number[] {
    const { seed, prefixes } = this.#options;
    if (prefixes === undefined || this.#paths === null) return [];
    if (this.isPriming(phase, position)) return pathOfLeaf(prefixes.levels, position);
    return this.#paths.draw(seededRandom(`${seed}/${phase}/${position}/prefix`));
  }

  #sharedText(name: string, tokens: number, continues = false): WrittenText {
    if (tokens === 0) return NOTHING;
    const known = this.#shared.get(name);
    if (known !== undefined) return known;
    const text = this.#writer.write(seededRandom(`${this.#options.seed}/shared/${name}`), tokens, continues);
    this.#shared.set(name, text);
    return text;
  }
}

type Responses = Parameters<Conversation['request']>[1];

const NOTHING: WrittenText = { text: '', tokens: 0 };

const joined = (a: WrittenText, b: WrittenText): WrittenText => ({
  text: a.text + b.text,
  tokens: sum(a.tokens, b.tokens),
});

const sum = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? undefined : a + b;
