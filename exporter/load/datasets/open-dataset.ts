import { ConfigurationError } from '../../errors/expected-error.ts';
import type { DatasetSource } from '../../../core/run/run-dataset.ts';
import type { Tokenizer } from '../tokenizers/tokenizer.ts';
import {
  AZURE,
  BURST_GPT,
  csvTrace,
  BLOCK_TOKENS,
  hashIdsOf,
  traceDataset,
  type TraceOptions,
  TraceRows,
} from './trace-dataset.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { MEDIA_KINDS, MEDIA_OPTIONS, mediaOf, type Media } from '../media/media-urls.ts';
import { mediaInBody } from '../endpoints/body-media.ts';
import type { Dataset } from './dataset.ts';
import {
  type SamplingStrategy,
  type FileDatasetOptions,
  requireCount,
  fileDataset,
  longestOutput,
  textRequest,
  requireEntries,
  filePlanSha256,
} from './file-dataset.ts';
import { multiTurn } from './multi-turn.ts';
import { planDataset } from './plan-file.ts';
import { SESSION_TYPES, type History } from './planned-session.ts';
import { sessions } from './sessions.ts';
import { withMedia, type RequestedMedia, RowMedia } from './with-media.ts';
import { shareGpt } from './sharegpt.ts';
import { DEFAULT_INPUT_TOKENS, DEFAULT_OUTPUT_TOKENS, syntheticDataset } from './synthetic-dataset.ts';
import type { DocumentShape, SyntheticOptions } from './synthetic-dataset.ts';
import { eachLine, filesIn, firstLineOf, readLines } from './input-lines.ts';
import { InputRow, dueTimes_ns, textRow, type TextRow } from './row.ts';
import { createHash } from 'node:crypto';
import { seededRandom } from '../../../core/stats/seeded-random.ts';

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
  ...SESSION_TYPES,
  'llmbench_plan',
] as const;
export type FileType = (typeof FILE_TYPES)[number];

/** The dataset as the user configured it; null: not set. */
export interface DatasetRequest {
  /** `--isl` and `--osl`. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly seed: number;
  readonly repeat: number;
  readonly synthetic: Omit<
    SyntheticOptions,
    'inputTokens' | 'outputTokens' | 'seed' | 'repeat' | 'tokenizer' | 'documents'
  >;
  /** `--batch-size` and `--query-tokens`; null or absent: not set. */
  readonly batchSize?: number | null;
  readonly queryTokens?: number | null;
  /** What requests of the endpoint contain; absent: a prompt. */
  readonly takes?: Endpoint['takes'] | undefined;
  readonly file: InputFile | null;
  /** `--images` and `--audio-clips`; absent: none but those of a file. */
  readonly media?: readonly RequestedMedia[];
}

export interface InputFile {
  readonly path: string;
  readonly type: FileType;
  readonly strategy: SamplingStrategy;
  /** For traces with hash ids; null: that of the format. */
  readonly blockTokens: number | null;
  /** The type was found from the content; absent: it was given. */
  readonly isDetected?: boolean;
  /** For files of conversations and sessions. */
  readonly delayRatio: number;
  /** For files of sessions; absent or null: pauses are not limited. */
  readonly delayCapSeconds?: number | null;
  /** Where it was downloaded from; absent: the user gave it. */
  readonly source?: DatasetSource;
  /** What a user should know of the download; absent: nothing. */
  readonly notes?: readonly string[];
  /** For files of sessions; absent: `recorded`. */
  readonly history?: History;
}

/** Opens the configured dataset. Throws a `ConfigurationError`, with file and line if there is one. */
export async function openDataset(request: DatasetRequest, tokenizer: Tokenizer | null): Promise<Dataset> {
  let dataset = await openTexts(request, tokenizer);
  const { media = [], file, seed, repeat } = request;
  for (const requested of media) {
    const { kind } = requested;
    const option = MEDIA_OPTIONS[kind];
    if (dataset[kind] !== undefined)
      throw new ConfigurationError(`${option} has no effect with an --input-file that has ${kind}: remove it`);
    if (file !== null && OWN_MESSAGES.has(file.type))
      throw new ConfigurationError(
        `${option} has no effect with a file of the type ${file.type}, which sets the messages`,
      );
    dataset = await withMedia(dataset, requested, { seed, variant: repeat });
  }
  return dataset;
}

/** Files whose requests are complete, or whose agents have messages that begin no turn. */
const OWN_MESSAGES: ReadonlySet<FileType> = new Set(['raw_payload', ...SESSION_TYPES]);

async function openTexts(request: DatasetRequest, tokenizer: Tokenizer | null): Promise<Dataset> {
  const { file, inputTokens, outputTokens, seed, repeat, takes } = request;
  const documents = documentShape(request);
  if (file === null) {
    return syntheticDataset({
      ...request.synthetic,
      documents,
      inputTokens: inputTokens ?? DEFAULT_INPUT_TOKENS,
      outputTokens: outputTokens ?? DEFAULT_OUTPUT_TOKENS,
      seed,
      repeat,
      tokenizer,
    });
  }
  if (inputTokens !== null) throw new ConfigurationError('--isl has no effect with --input-file: the file sets it');
  const { path, strategy } = file;
  const opened = await openFile(file, {
    file: path,
    outputTokens,
    seed,
    strategy,
    tokenizer,
    ...(takes && { takes }),
  });
  const dataset = file.notes === undefined ? opened : { ...opened, notes: [...file.notes, ...(opened.notes ?? [])] };
  if (file.isDetected !== true || file.type === 'single_turn') return dataset;
  const note = `${file.path}: read as ${file.type}; --custom-dataset-type sets another format`;
  return { ...dataset, notes: [note, ...(dataset.notes ?? [])] };
}

const DEFAULT_RANKED_DOCUMENTS = 10;
const DEFAULT_QUERY_TOKENS = 32;

/** The texts of each request; null: a prompt, or what a file contains. Throws a `ConfigurationError`. */
export function documentShape({
  takes,
  file,
  batchSize = null,
  queryTokens = null,
}: DatasetRequest): DocumentShape | null {
  const set = batchSize !== null ? '--batch-size' : queryTokens !== null ? '--query-tokens' : null;
  if (takes === undefined && set !== null)
    throw new ConfigurationError(
      `${set} requires an --endpoint-type that reads texts: embeddings, pooling, rerank, score`,
    );
  if (file !== null && set !== null)
    throw new ConfigurationError(`${set} has no effect with --input-file: the file sets it`);
  if (file !== null) return null;
  if (takes === 'ranking')
    return { count: batchSize ?? DEFAULT_RANKED_DOCUMENTS, queryTokens: queryTokens ?? DEFAULT_QUERY_TOKENS };
  if (queryTokens !== null) throw new ConfigurationError('--query-tokens requires --endpoint-type rerank or score');
  return batchSize === null || batchSize === 1 ? null : { count: batchSize, queryTokens: null };
}

function openFile(
  { type, blockTokens, delayRatio, delayCapSeconds = null, history = 'recorded' }: InputFile,
  options: FileDatasetOptions,
): Promise<Dataset> {
  const ofSessions = { ...options, delayRatio, delayCapSeconds, history, blockTokens };
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
      // Rows with a session are its requests.
      return /"session_id"\s*:/.test(firstLineOf(options.file))
        ? sessions(type, ofSessions)
        : mooncakeTrace({ ...options, blockTokens });
    case 'bailian_trace':
      return bailianTrace({ ...options, blockTokens });
    case 'burst_gpt_trace':
      return csvTrace(BURST_GPT, options);
    case 'azure_trace':
      return csvTrace(AZURE, options);
    case 'sharegpt':
      return shareGpt(options);
    case 'sessions':
    case 'agentic_mooncake':
    case 'dag_jsonl':
    case 'otel_spans':
    case 'tracelab':
    case 'weka_trace':
      return sessions(type, ofSessions);
    case 'llmbench_plan':
      return planDataset(options);
  }
}

/**
 * `bailian_trace`: `{"chat_id", "parent_chat_id", "timestamp" (s), "input_length", "output_length", "type", "turn",
 * "hash_ids"}` per line, of github.com/alibaba-edu/qwen-bailian-usagetraces-anon. Each line is a request at its time; its
 * length and blocks include the earlier turns, so turns of a chat share their beginning. All types are sent as text.
 * Throws a `ConfigurationError`.
 */
async function bailianTrace(options: TraceOptions): Promise<Dataset> {
  const { file } = options;
  const blockTokens = options.blockTokens ?? BLOCK_TOKENS.bailian_trace;
  const rows = new TraceRows();
  const sha256 = await eachLine(file, (line) => {
    const row = InputRow.parse(file, line);
    const inputTokens = row.tokens('input_length') ?? row.refuse('input_length is missing');
    const outputTokens = row.tokens('output_length') ?? row.refuse('output_length is missing');
    const due_s = row.seconds('timestamp') ?? row.refuse('timestamp is missing');
    const hashIds = hashIdsOf(row, inputTokens, blockTokens);
    rows.push({ due_ns: Math.round(due_s * 1e9), inputTokens, outputTokens, hashIds }, file);
  });
  requireCount(rows.count, file);
  return traceDataset({ type: 'bailian_trace', rows, sha256, blockTokens, untimed: allHaveTimes }, options);
}

function allHaveTimes(): never {
  throw new RangeError('every row has a time');
}

/** A row with its files. */
type ReadRow = Omit<TextRow, 'media'> & { readonly media: Media };

/** `single_turn`: a JSON object per line with a `text`. Throws a `ConfigurationError`. */
async function singleTurn(options: FileDatasetOptions): Promise<Dataset> {
  const { texts, sha256 } = await readLines(options.file);
  const media = new RowMedia(options.file);
  const rows: (ReadRow & { readonly row: InputRow })[] = [];
  for (const text of requireEntries(texts, options.file)) {
    const row = InputRow.parse(options.file, text);
    if (row.has('delay')) row.refuse('delay requires --custom-dataset-type multi_turn');
    const read = textRow(row, options.takes);
    rows.push({ row, ...read, media: await media.read(read.media) });
  }
  // The times are meaningful only in file order.
  const due_ns = options.strategy === 'sequential' ? dueTimes_ns(rows) : undefined;
  const entries = rows.map(({ row: _, timestamp_ms: __, ...entry }) => entry);
  const dataset = fileDataset(
    'single_turn',
    { entries, sha256 },
    options,
    ({ text, outputTokens, documents, media: ofRow }) => {
      const max_tokens = outputTokens ?? options.outputTokens ?? DEFAULT_OUTPUT_TOKENS;
      return textRequest(text, max_tokens, options.tokenizer, documents, ofRow);
    },
    longestOutput(
      entries.map(({ outputTokens }) => outputTokens),
      options,
    ),
    media.plan,
  );
  return { ...dataset, ...media.facts, ...(due_ns === undefined ? {} : { due_ns }) };
}

/** Names of the field that limits the output length in the bodies of the known APIs. */
const LENGTH_KEYS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'] as const;

/**
 * `raw_payload`: each line is the body of a request, sent unchanged except for what the run sets (streaming, usage) and
 * what is missing (model, length). Throws a `ConfigurationError`.
 */
async function rawPayload(options: FileDatasetOptions): Promise<Dataset> {
  const { texts, sha256 } = await readLines(options.file);
  const media = new RowMedia(options.file);
  const entries = requireEntries(texts, options.file).map((text) => {
    const row = InputRow.parse(options.file, text);
    const several = ['n', 'best_of'].find((key) => row.has(key) && row.json[key] !== 1);
    if (several !== undefined)
      row.refuse(`${several} must be 1: responses with several choices have no inter-token latency`);
    const reported = LENGTH_KEYS.map((key) => row.tokens(key)).find((tokens) => tokens !== null);
    const max_tokens = reported ?? options.outputTokens ?? DEFAULT_OUTPUT_TOKENS;
    return { payload: row.json, max_tokens, media: media.add(mediaInBody(row.json)) };
  });
  const dataset = fileDataset(
    'raw_payload',
    { entries, sha256 },
    options,
    // The media are those of the payload, to be counted.
    ({ payload, max_tokens, media: ofPayload }) => ({ prompt: '', max_tokens, payload, ...ofPayload }),
    longestOutput(
      entries.map(({ max_tokens }) => max_tokens),
      options,
    ),
  );
  return { ...dataset, ...media.facts };
}

/**
 * `mooncake_trace`: `{"timestamp" (ms), "input_length", "output_length", "hash_ids"}` per line, or `text_input` instead
 * of length and ids. Each id stands for a block of tokens: requests that start with the same ids share their beginning.
 * Tokens beyond the blocks are unique to the request. Format: github.com/kvcache-ai/Mooncake, FAST25-release/traces.
 * Throws a `ConfigurationError`.
 */
async function mooncakeTrace(options: TraceOptions): Promise<Dataset> {
  const { file } = options;
  const blockTokens = options.blockTokens ?? BLOCK_TOKENS.mooncake_trace;
  const rows = new TraceRows();
  const texts = new Map<number, string>();
  let untimed: InputRow | null = null;
  const sha256 = await eachLine(file, (line) => {
    const row = InputRow.parse(file, line);
    if (row.has('delay') || row.has('session_id'))
      row.refuse('delay and session_id require a session_id in the first row');
    const text = row.string('text_input');
    const inputTokens = row.tokens('input_length');
    if (text === null && inputTokens === null) row.refuse('input_length or text_input is required');
    if (text !== null && row.has('hash_ids') && row.integers('hash_ids')?.length !== 0)
      row.refuse('text_input and hash_ids cannot be used together');
    if (text !== null) texts.set(rows.count, text);
    const due_ms = row.milliseconds('timestamp');
    if (due_ms === null) untimed ??= row;
    const hashIds = hashIdsOf(row, inputTokens ?? 0, blockTokens);
    const due_ns = due_ms === null ? null : Math.round((due_ms / 1000) * 1e9);
    rows.push({ due_ns, inputTokens: inputTokens ?? 0, outputTokens: row.tokens('output_length'), hashIds }, file);
  });
  requireCount(rows.count, file);
  const refuse = (): never =>
    (untimed as unknown as InputRow).refuse('timestamp is missing, although other rows have one');
  return traceDataset({ type: 'mooncake_trace', rows, sha256, blockTokens, texts, untimed: refuse }, options);
}

const POOL_FILES = /\.jsonl(?:\.gz)?$/;

/**
 * `random_pool`: each request takes a random row of a file, or one row of each file in a folder, in the order of the
 * files' names and joined by a line break. Throws a `ConfigurationError`.
 */
async function randomPool(options: FileDatasetOptions): Promise<Dataset> {
  const files = await filesIn(options.file, POOL_FILES);
  const pools: (readonly ReadRow[])[] = [];
  const hash = createHash('sha256');
  const media = new RowMedia(files[0] ?? options.file);
  for (const file of files) {
    const { texts, sha256 } = await readLines(file);
    const pool: ReadRow[] = [];
    for (const text of requireEntries(texts, file)) {
      const row = textRow(InputRow.parse(file, text));
      pool.push({ ...row, media: await media.read(row.media) });
    }
    pools.push(pool);
    hash.update(sha256);
  }
  const fileSha256 = hash.digest('hex');
  return {
    planSha256: filePlanSha256('random_pool', fileSha256, options, { seeded: 1, ...media.plan }),
    fileSha256,
    ...media.facts,
    size: null,
    longestOutputTokens: longestOutput(
      pools.flat().map(({ outputTokens }) => outputTokens),
      options,
    ),
    request(phase, position) {
      const random = seededRandom(`${options.seed}/${phase}/${position}/entry`);
      const rows = pools.map((pool) => pool[Math.floor(random() * pool.length)] as ReadRow);
      const outputTokens = rows.find((row) => row.outputTokens !== null)?.outputTokens;
      const text = rows.map((row) => row.text).join('\n');
      const max_tokens = outputTokens ?? options.outputTokens ?? DEFAULT_OUTPUT_TOKENS;
      const ofRows = MEDIA_KINDS.map((kind) =>
        mediaOf(
          kind,
          rows.flatMap(({ media: of }) => of[kind] ?? []),
        ),
      );
      return textRequest(text, max_tokens, options.tokenizer, null, Object.assign({}, ...ofRows) as Media);
    },
  };
}
