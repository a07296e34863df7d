import type { GenerationRequest } from '../endpoints/endpoint.ts';
import type { Tokenizer } from '../tokenizers/tokenizer.ts';
import type { Dataset } from './dataset.ts';
import type { EntryOrder, SamplingStrategy } from './entry-order.ts';
import { entryOrder } from './entry-order.ts';
import { planSha256 } from './plan.ts';
import { DEFAULT_OUTPUT_TOKENS } from './synthetic-dataset.ts';
import { ConfigurationError } from '../../errors/configuration-error.ts';

/** What all datasets from files require. */
export interface FileDatasetOptions {
  readonly file: string;
  /** `--osl`: `max_tokens` of entries without their own; null: not set. */
  readonly outputTokens: number | null;
  readonly seed: number;
  readonly strategy: SamplingStrategy;
  readonly tokenizer: Tokenizer | null;
}

/** The content of a file, before it is ordered. */
export interface FileEntries<T> {
  readonly entries: readonly T[];
  readonly sha256: string;
}

/** The maximum output length of rows that each have one, or none: then the run's setting applies. */
export function longestOutput(rows: Iterable<number | null>, { outputTokens }: FileDatasetOptions): number {
  let longest = 0;
  for (const reported of rows) longest = Math.max(longest, reported ?? outputTokens ?? DEFAULT_OUTPUT_TOKENS);
  return longest;
}

export type PlanPart = Readonly<Record<string, string | number | null>>;

/** The hash of a plan from a file: of its bytes and of everything that determines how they are used. */
export function filePlanSha256(type: string, sha256: string, options: FileDatasetOptions, more: PlanPart = {}): string {
  const { outputTokens, seed, strategy, tokenizer } = options;
  const plan = { type, file: sha256, outputTokens, strategy, tokenizer: tokenizer?.identity ?? null, ...more };
  // File order involves no randomness.
  return planSha256({ ...plan, seed: strategy === 'sequential' && more.seeded === undefined ? null : seed });
}

/** A dataset of single requests, one per entry. */
export function fileDataset<T>(
  type: string,
  { entries, sha256 }: FileEntries<T>,
  options: FileDatasetOptions,
  requestOf: (entry: T, index: number) => GenerationRequest,
  longestOutputTokens: number,
  more: PlanPart = {},
): Dataset {
  const request = (index: number): GenerationRequest => requestOf(entries[index] as T, index);
  return indexedDataset(type, { count: entries.length, sha256 }, options, request, longestOutputTokens, more);
}

/** The same, of entries that are only known by their numbers. */
export function indexedDataset(
  type: string,
  { count, sha256 }: { readonly count: number; readonly sha256: string },
  options: FileDatasetOptions,
  requestOf: (index: number) => GenerationRequest,
  longestOutputTokens: number,
  more: PlanPart = {},
): Dataset {
  const order: EntryOrder = entryOrder(options.strategy, count, options.seed);
  return {
    planSha256: filePlanSha256(type, sha256, options, more),
    fileSha256: sha256,
    size: count,
    longestOutputTokens,
    request: (phase, position) => requestOf(order(phase, position)),
  };
}

/** A request for the text of an entry, with its tokens when a tokenizer can count them. */
export function textRequest(text: string, max_tokens: number, tokenizer: Tokenizer | null): GenerationRequest {
  return { prompt: text, max_tokens, ...(tokenizer === null ? {} : { input_tokens: tokenizer.count(text) }) };
}

/** The list itself; throws a `ConfigurationError` when it is empty. */
export function requireEntries<T>(entries: readonly T[], file: string): readonly T[] {
  requireCount(entries.length, file);
  return entries;
}

/** Throws a `ConfigurationError` when it is 0. */
export function requireCount(count: number, file: string): void {
  if (count === 0) throw new ConfigurationError(`${file}: the file has no entries to send`);
}
