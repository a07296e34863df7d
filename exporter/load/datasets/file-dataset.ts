import { seededRandom } from '../../../core/stats/seeded-random.ts';
import { ConfigurationError } from '../../errors/expected-error.ts';
import type { Endpoint, GenerationRequest } from '../endpoints/endpoint.ts';
import type { Media } from '../media/media-urls.ts';
import type { Tokenizer } from '../tokenizers/tokenizer.ts';
import { type Dataset, planSha256 } from './dataset.ts';
import type { TextRow } from './row.ts';
import { DEFAULT_OUTPUT_TOKENS } from './synthetic-dataset.ts';

/** Values of `--dataset-sampling-strategy`. */
export const SAMPLING_STRATEGIES = ['sequential', 'random', 'shuffle'] as const;
export type SamplingStrategy = (typeof SAMPLING_STRATEGIES)[number];

/** Maps a position of a phase to the entry of a file that is sent. */
type EntryOrder = (phase: string, position: number) => number;

/**
 * `sequential`: in file order, then again from the beginning; `shuffle`: each entry once in a random order, then each
 * once in another order; `random`: a random entry each time. Except for `random`, warm-up and probe take their entries
 * from the other end, so that the measured requests do not hit a warm cache.
 */
export function entryOrder(strategy: SamplingStrategy, count: number, seed: number): EntryOrder {
  if (strategy === 'random')
    return (phase, position) => Math.floor(seededRandom(`${seed}/${phase}/${position}/entry`)() * count);
  const ordered = strategy === 'sequential' ? (position: number): number => position % count : shuffled(count, seed);
  return (phase, position) => ordered(phase === 'measure' ? position : count - 1 - (position % count));
}

function shuffled(count: number, seed: number): (position: number) => number {
  let round = -1;
  let order = new Uint32Array(0);
  return (position) => {
    const wanted = Math.floor(position / count);
    if (wanted !== round) {
      round = wanted;
      order = permutation(count, `${seed}/shuffle/${round}`);
    }
    return order[position % count] ?? 0;
  };
}

/** Fisher-Yates shuffle. */
function permutation(count: number, key: string): Uint32Array<ArrayBuffer> {
  const random = seededRandom(key);
  const order = Uint32Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    const swapped = order[i] ?? 0;
    order[i] = order[j] ?? 0;
    order[j] = swapped;
  }
  return order;
}

/** What all datasets from files require. */
export interface FileDatasetOptions {
  readonly file: string;
  /** `--osl`: `max_tokens` of entries without their own; null: not set. */
  readonly outputTokens: number | null;
  readonly seed: number;
  readonly strategy: SamplingStrategy;
  readonly tokenizer: Tokenizer | null;
  /** What requests of the endpoint contain; absent: a prompt. */
  readonly takes?: Endpoint['takes'];
}

/** The content of a file, before it is ordered. */
interface FileEntries<T> {
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
export function textRequest(
  text: string,
  max_tokens: number,
  tokenizer: Tokenizer | null,
  documents: TextRow['documents'] = null,
  media: Media = {},
): GenerationRequest {
  const request = {
    prompt: text,
    max_tokens,
    ...(documents && { documents }),
    ...media,
  };
  if (tokenizer === null) return request;
  const ofPrompt = text === '' ? 0 : tokenizer.count(text);
  const input_tokens = documents?.reduce((sum, each) => sum + ofPrompt + tokenizer.count(each), 0) ?? ofPrompt;
  return { ...request, input_tokens };
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
