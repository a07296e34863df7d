import { seededRandom } from '../../../core/stats/seeded-random.ts';
import type { Dataset } from './dataset.ts';
import { fileDataset, longestOutput, textRequest, requireEntries } from './file-dataset.ts';
import type { FileDatasetOptions } from './file-dataset.ts';
import { readLines } from './input-lines.ts';
import { PromptWriter } from './prompt-writer.ts';
import { InputRow } from './row.ts';
import { DEFAULT_OUTPUT_TOKENS } from './synthetic-dataset.ts';
import { dueTimes_ns } from './text-rows.ts';

/** Number of tokens that a hash id of a Mooncake trace stands for. */
export const DEFAULT_BLOCK_TOKENS = 512;
/** Number of block texts cached for later requests with the same id. */
const MOST_BLOCKS = 4096;

export interface MooncakeOptions extends FileDatasetOptions {
  /** `--isl-block-size`. */
  readonly blockTokens: number;
}

interface TraceRow {
  readonly row: InputRow;
  readonly text: string | null;
  readonly inputTokens: number;
  readonly outputTokens: number | null;
  readonly hashIds: readonly number[];
  readonly timestamp_ms: number | null;
}

/**
 * `mooncake_trace`: `{"timestamp" (ms), "input_length", "output_length", "hash_ids"}` per line, or `text_input` instead
 * of length and ids. Each id stands for a block of tokens: requests that start with the same ids share their beginning.
 * Tokens beyond the blocks are unique to the request. Throws a `ConfigurationError`.
 */
export async function mooncakeTrace(options: MooncakeOptions): Promise<Dataset> {
  const { texts, sha256 } = await readLines(options.file);
  const rows = requireEntries(texts, options.file).map((text) => traceRow(InputRow.parse(options.file, text), options));
  // The times are meaningful only in file order.
  const due_ns = options.strategy === 'sequential' ? dueTimes_ns(rows) : undefined;
  const entries = rows.map(({ text, inputTokens, outputTokens, hashIds }) => ({
    text,
    inputTokens,
    outputTokens,
    hashIds,
  }));
  const blocks = new BlockTexts(options);
  const request: Parameters<typeof fileDataset<(typeof entries)[number]>>[3] = (entry, index) => {
    const max_tokens = entry.outputTokens ?? options.outputTokens ?? DEFAULT_OUTPUT_TOKENS;
    if (entry.text !== null) return textRequest(entry.text, max_tokens, options.tokenizer);
    return textRequest(blocks.prompt(entry.inputTokens, entry.hashIds, index), max_tokens, options.tokenizer);
  };
  const longest = longestOutput(
    entries.map(({ outputTokens }) => outputTokens),
    options,
  );
  const plan = { blockTokens: options.blockTokens, seeded: 1 };
  const dataset = fileDataset('mooncake_trace', { entries, sha256 }, options, request, longest, plan);
  return due_ns === undefined ? dataset : { ...dataset, due_ns };
}

function traceRow(row: InputRow, { blockTokens }: MooncakeOptions): TraceRow {
  if (row.has('delay') || row.has('session_id'))
    row.refuse('delay and session_id require --custom-dataset-type multi_turn');
  const text = row.string('text_input');
  const inputTokens = row.tokens('input_length');
  const hashIds = row.integers('hash_ids') ?? [];
  if (text === null && inputTokens === null) row.refuse('input_length or text_input is required');
  if (text !== null && hashIds.length > 0) row.refuse('text_input and hash_ids cannot be used together');
  const blocks = Math.ceil((inputTokens ?? 0) / blockTokens);
  if (hashIds.length > blocks) {
    row.refuse(
      `hash_ids has ${hashIds.length} blocks of ${blockTokens} tokens, more than input_length ${inputTokens ?? 0} holds: ` +
        'check --isl-block-size',
    );
  }
  const timestamp_ms = row.milliseconds('timestamp');
  return { row, text, inputTokens: inputTokens ?? 0, outputTokens: row.tokens('output_length'), hashIds, timestamp_ms };
}

/** Texts of blocks: the same id always has the same text. */
class BlockTexts {
  readonly #options: MooncakeOptions;
  readonly #writer: PromptWriter;
  readonly #known = new Map<number, string>();

  constructor(options: MooncakeOptions) {
    this.#options = options;
    this.#writer = new PromptWriter(options.tokenizer);
  }

  prompt(inputTokens: number, hashIds: readonly number[], index: number): string {
    const { blockTokens, seed } = this.#options;
    let left = inputTokens;
    let text = '';
    for (const id of hashIds) {
      const tokens = Math.min(left, blockTokens);
      text += this.#block(id, tokens);
      left -= tokens;
    }
    if (left > 0) text += this.#writer.write(seededRandom(`${seed}/rest/${index}`), left, text !== '').text;
    return text.trimStart();
  }

  /** A partial block is the beginning of the text of the full one. */
  #block(id: number, tokens: number): string {
    const { blockTokens, seed } = this.#options;
    if (tokens < blockTokens) return this.#writer.write(seededRandom(`${seed}/block/${id}`), tokens, true).text;
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const { text } = this.#writer.write(seededRandom(`${seed}/block/${id}`), blockTokens, true);
    if (this.#known.size >= MOST_BLOCKS) this.#known.clear();
    this.#known.set(id, text);
    return text;
  }
}
