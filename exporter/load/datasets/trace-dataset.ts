import type { Dataset } from './dataset.ts';
import { indexedDataset, longestOutput, textRequest, type FileDatasetOptions } from './file-dataset.ts';
import type { InputRow } from './row.ts';
import { DEFAULT_OUTPUT_TOKENS } from './synthetic-dataset.ts';
import type { TraceRows } from './trace-rows.ts';
import { seededRandom } from '../../../core/stats/seeded-random.ts';
import type { Tokenizer } from '../tokenizers/tokenizer.ts';
import { PromptWriter } from './prompt-writer.ts';

export interface TraceOptions extends FileDatasetOptions {
  /** `--isl-block-size`: tokens that a hash id stands for; null: those of the format. */
  readonly blockTokens: number | null;
}

/** Tokens that a hash id stands for, by format. */
export const BLOCK_TOKENS = { mooncake_trace: 512, bailian_trace: 16 } as const;

/** A trace that was read. */
export interface ReadTrace {
  /** As in `--custom-dataset-type`. */
  readonly type: string;
  readonly rows: TraceRows;
  readonly sha256: string;
  readonly blockTokens: number;
  /** By row: the prompts of rows that have one instead of a length. */
  readonly texts?: ReadonlyMap<number, string>;
  /** Reports a row without a time although others have one. */
  readonly untimed: (row: number) => never;
}

/** The requests of a trace, with its times when they are sent in its order. */
export function traceDataset(trace: ReadTrace, options: FileDatasetOptions): Dataset {
  const { type, rows, sha256, blockTokens, texts } = trace;
  const { seed, outputTokens, tokenizer } = options;
  // The times are meaningful only in file order.
  const due_ns = options.strategy === 'sequential' ? rows.times(trace.untimed) : undefined;
  const prompts = new BlockPrompts(seed, blockTokens, tokenizer);
  const dataset = indexedDataset(
    type,
    { count: rows.count, sha256 },
    options,
    (row) => {
      const text = texts?.get(row) ?? prompts.prompt(rows.inputTokens(row), rows.hashIds(row), row);
      return textRequest(text, rows.outputTokens(row) ?? outputTokens ?? DEFAULT_OUTPUT_TOKENS, tokenizer);
    },
    longestOutput(outputsOf(rows), options),
    { blockTokens, seeded: 1 },
  );
  return due_ns === undefined ? dataset : { ...dataset, due_ns };
}

function* outputsOf(rows: TraceRows): Generator<number | null> {
  for (let row = 0; row < rows.count; row++) yield rows.outputTokens(row);
}

/** The hash ids of a row, which its input must be long enough for. Throws a `ConfigurationError` of the row. */
export function hashIdsOf(row: InputRow, inputTokens: number, blockTokens: number): readonly number[] {
  const hashIds = row.integers('hash_ids') ?? [];
  if (hashIds.length > Math.ceil(inputTokens / blockTokens)) {
    row.refuse(
      `hash_ids has ${hashIds.length} blocks of ${blockTokens} tokens, more than input_length ${inputTokens} holds: ` +
        'check --isl-block-size',
    );
  }
  return hashIds;
}

/** Number of block texts cached for later requests with the same id. */
const MAX_BLOCKS = 4096;

/** Prompts made of blocks: the same id always has the same text; what follows the blocks is unique to the request. */
class BlockPrompts {
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
    if (this.#known.size >= MAX_BLOCKS) this.#known.clear();
    this.#known.set(id, text);
    return text;
  }
}
