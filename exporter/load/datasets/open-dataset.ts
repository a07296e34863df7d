import { ConfigurationError } from '../../errors/configuration-error.ts';
import type { Tokenizer } from '../tokenizers/tokenizer.ts';
import { bailianTrace } from './bailian-trace.ts';
import { AZURE, BURST_GPT, csvTrace } from './csv-traces.ts';
import type { Dataset } from './dataset.ts';
import type { SamplingStrategy } from './entry-order.ts';
import type { FileDatasetOptions } from './file-dataset.ts';
import { mooncakeTrace } from './mooncake-trace.ts';
import { multiTurn } from './multi-turn.ts';
import { randomPool } from './random-pool.ts';
import { rawPayload } from './raw-payload.ts';
import { shareGpt } from './sharegpt.ts';
import { singleTurn } from './single-turn.ts';
import { DEFAULT_INPUT_TOKENS, DEFAULT_OUTPUT_TOKENS, syntheticDataset } from './synthetic-dataset.ts';
import type { SyntheticOptions } from './synthetic-dataset.ts';

/** Values of `--custom-dataset-type`. */
export const FILE_TYPES = [
  'single_turn',
  'multi_turn',
  'random_pool',
  'raw_payload',
  'mooncake_trace',
  'bailian_trace',
  'burst_gpt_trace',
  'azure_trace',
  'sharegpt',
] as const;
export type FileType = (typeof FILE_TYPES)[number];

/** The dataset as the user configured it; null: not set. */
export interface DatasetRequest {
  /** `--isl` and `--osl`. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly seed: number;
  readonly repeat: number;
  readonly synthetic: Omit<SyntheticOptions, 'inputTokens' | 'outputTokens' | 'seed' | 'repeat' | 'tokenizer'>;
  readonly file: InputFile | null;
}

export interface InputFile {
  readonly path: string;
  readonly type: FileType;
  readonly strategy: SamplingStrategy;
  /** For traces with hash ids; null: that of the format. */
  readonly blockTokens: number | null;
  /** The type was found from the content; absent: it was given. */
  readonly isDetected?: boolean;
  /** For `multi_turn`. */
  readonly delayRatio: number;
}

/** Opens the configured dataset. Throws a `ConfigurationError`, with file and line if there is one. */
export async function openDataset(request: DatasetRequest, tokenizer: Tokenizer | null): Promise<Dataset> {
  const { file, inputTokens, outputTokens, seed, repeat } = request;
  if (file === null) {
    return syntheticDataset({
      ...request.synthetic,
      inputTokens: inputTokens ?? DEFAULT_INPUT_TOKENS,
      outputTokens: outputTokens ?? DEFAULT_OUTPUT_TOKENS,
      seed,
      repeat,
      tokenizer,
    });
  }
  if (inputTokens !== null) throw new ConfigurationError('--isl has no effect with --input-file: the file sets it');
  const dataset = await openFile(file, { file: file.path, outputTokens, seed, strategy: file.strategy, tokenizer });
  if (file.isDetected !== true || file.type === 'single_turn') return dataset;
  const note = `${file.path}: read as ${file.type}; --custom-dataset-type sets another format`;
  return { ...dataset, notes: [note, ...(dataset.notes ?? [])] };
}

function openFile({ type, blockTokens, delayRatio }: InputFile, options: FileDatasetOptions): Promise<Dataset> {
  switch (type) {
    case 'single_turn':
      return singleTurn(options);
    case 'multi_turn':
      return multiTurn({ ...options, delayRatio });
    case 'random_pool':
      return randomPool(options);
    case 'raw_payload':
      return rawPayload(options);
    case 'mooncake_trace':
      return mooncakeTrace({ ...options, blockTokens });
    case 'bailian_trace':
      return bailianTrace({ ...options, blockTokens });
    case 'burst_gpt_trace':
      return csvTrace(BURST_GPT, options);
    case 'azure_trace':
      return csvTrace(AZURE, options);
    case 'sharegpt':
      return shareGpt(options);
  }
}
