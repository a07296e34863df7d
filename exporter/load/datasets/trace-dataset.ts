import type { Dataset } from './dataset.ts';
import { BlockPrompts } from './block-prompts.ts';
import { indexedDataset, longestOutput, textRequest, type FileDatasetOptions } from './file-dataset.ts';
import type { InputRow } from './row.ts';
import { DEFAULT_OUTPUT_TOKENS } from './synthetic-dataset.ts';
import type { TraceRows } from './trace-rows.ts';

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
