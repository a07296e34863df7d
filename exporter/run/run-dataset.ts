import { basename } from 'node:path';
import type { RunDataset, RunDatasetFile } from '../../core/run/run-dataset.ts';
import type { Dataset } from '../load/datasets/dataset.ts';
import type { InputFile } from '../load/datasets/open-dataset.ts';
import { DEFAULT_INPUT_TOKENS, DEFAULT_OUTPUT_TOKENS } from '../load/datasets/synthetic-dataset.ts';
import { BLOCK_TOKENS } from '../load/datasets/trace-dataset.ts';
import type { Tokenizer } from '../load/tokenizers/tokenizer.ts';
import type { RunRequest } from './run-request.ts';

/** The dataset's options as run.json has them. `dataset` is what they opened. */
export function runDataset(request: RunRequest, dataset: Dataset, tokenizer: Tokenizer | null): RunDataset {
  const { file } = request.traffic.dataset;
  const used = request.traffic.tokenizer;
  return {
    ...(file === null ? syntheticOptions(request) : fileOptions(request, file, dataset)),
    tokenizer:
      used === null || tokenizer === null
        ? null
        : { name: used.name, revision: used.revision, identity: tokenizer.identity },
    seed: request.seed,
  };
}

type ChosenOptions = Omit<RunDataset, 'tokenizer' | 'seed'>;

function syntheticOptions({ traffic: { dataset }, textVariant }: RunRequest): ChosenOptions {
  const { inputTokens, outputTokens, synthetic } = dataset;
  const { distribution = null, prefixes, conversations = null } = synthetic;
  const isPlain = distribution === null;
  return {
    type: 'synthetic',
    input_tokens: isPlain ? { mean: inputTokens ?? DEFAULT_INPUT_TOKENS, stddev: synthetic.inputStddev ?? 0 } : null,
    output_tokens: isPlain
      ? { mean: outputTokens ?? DEFAULT_OUTPUT_TOKENS, stddev: synthetic.outputStddev ?? 0 }
      : null,
    lengths:
      distribution?.map(({ input, output, share }) => ({ input_tokens: input, output_tokens: output, share })) ?? null,
    shared_system_prompt_tokens: synthetic.systemPromptTokens ?? 0,
    prefix_prompts: prefixes === undefined || prefixes.count === 0 ? null : prefixes,
    user_context_tokens: synthetic.userContextTokens ?? 0,
    conversation: conversations && {
      turns: conversations.turns,
      delay_seconds: { mean: conversations.delay.mean, stddev: conversations.delay.stddev },
    },
    delay_factor: conversations?.delay.ratio ?? null,
    entries: synthetic.entries ?? null,
    file: null,
    prompt_variant: textVariant,
  };
}

function fileOptions({ traffic }: RunRequest, file: InputFile, { fileSha256 }: Dataset): ChosenOptions {
  const { outputTokens } = traffic.dataset;
  return {
    type: file.type,
    input_tokens: null,
    output_tokens: outputTokens === null ? null : { mean: outputTokens, stddev: 0 },
    lengths: null,
    shared_system_prompt_tokens: 0,
    prefix_prompts: null,
    user_context_tokens: 0,
    conversation: null,
    delay_factor: file.type === 'multi_turn' ? file.delayRatio : null,
    entries: null,
    file: fileSha256 === undefined ? null : fileFacts(file, fileSha256),
    prompt_variant: null,
  };
}

function fileFacts({ path, type, strategy, blockTokens }: InputFile, sha256: string): RunDatasetFile {
  const blocks = type in BLOCK_TOKENS ? BLOCK_TOKENS[type as keyof typeof BLOCK_TOKENS] : null;
  return {
    name: basename(path),
    sha256,
    sampling_strategy: strategy,
    block_tokens: blocks === null ? null : (blockTokens ?? blocks),
  };
}
