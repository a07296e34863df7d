import type { GenerationRequest } from '../endpoints/endpoint.ts';
import type { Tokenizer } from '../tokenizers/tokenizer.ts';
import type { Dataset } from './dataset.ts';
import type { EntryOrder, SamplingStrategy } from './entry-order.ts';
import { entryOrder } from './entry-order.ts';
import { planSha256 } from './plan.ts';
import { DEFAULT_OUTPUT_TOKENS } from './synthetic-dataset.ts';

/** What all datasets from files are made with. */
export interface FileDatasetOptions {
  readonly file: string;
  /** `--osl`: `max_tokens` of entries that tell none; null: it was not said. */
  readonly outputTokens: number | null;
  readonly seed: number;
  readonly strategy: SamplingStrategy;
  readonly tokenizer: Tokenizer | null;
}

/** What a file holds, before it is put in order. */
export interface FileEntries<T> {
  readonly entries: readonly T[];
  readonly sha256: string;
}

/** The longest answer of rows that tell one each, or none: then it is as the run says. */
export function longestOutput(rows: Iterable<number | null>, { outputTokens }: FileDatasetOptions): number {
  let longest = 0;
  for (const told of rows) longest = Math.max(longest, told ?? outputTokens ?? DEFAULT_OUTPUT_TOKENS);
  return longest;
}

export type PlanPart = Readonly<Record<string, string | number | null>>;

/** The hash of a plan from a file: of its bytes and of everything that decides what becomes of them. */
export function filePlanSha256(type: string, sha256: string, options: FileDatasetOptions, more: PlanPart = {}): string {
  const { outputTokens, seed, strategy, tokenizer } = options;
  const plan = { type, file: sha256, outputTokens, strategy, tokenizer: tokenizer?.identity ?? null, ...more };
  // In the order of the file nothing is left to chance.
  return planSha256({ ...plan, seed: strategy === 'sequential' && more.seeded === undefined ? null : seed });
}

/** A dataset of single requests, one of each entry. */
export function fileDataset<T>(
  type: string,
  { entries, sha256 }: FileEntries<T>,
  options: FileDatasetOptions,
  requestOf: (entry: T, index: number) => GenerationRequest,
  longestOutputTokens: number,
  more: PlanPart = {},
): Dataset {
  const order: EntryOrder = entryOrder(options.strategy, entries.length, options.seed);
  return {
    planSha256: filePlanSha256(type, sha256, options, more),
    size: entries.length,
    longestOutputTokens,
    request(phase, position) {
      const index = order(phase, position);
      return requestOf(entries[index] as T, index);
    },
  };
}

/** A request for the text of an entry, with its tokens when a tokenizer can count them. */
export function textRequest(text: string, max_tokens: number, tokenizer: Tokenizer | null): GenerationRequest {
  return { prompt: text, max_tokens, ...(tokenizer === null ? {} : { input_tokens: tokenizer.count(text) }) };
}
