import type { RecordedLoad } from './load.ts';

/** A normal distribution of whole numbers; without a standard deviation always the mean. */
export interface Spread {
  readonly mean: number;
  readonly stddev: number;
}

/** Lengths in tokens that a share (0 to 1) of the requests has. */
export interface LengthShare {
  readonly input_tokens: Spread;
  readonly output_tokens: Spread;
  readonly share: number;
}

/** What the requests of a run were made of, as it was configured; null where an option does not apply. */
export interface RunDataset {
  /** `synthetic`, or the format of the file. */
  readonly type: string;
  /** Of a prompt, without the texts that requests share; null: `lengths` or the file determine it. */
  readonly input_tokens: Spread | null;
  /** The limit of a response (`max_tokens`); null: `lengths` or the file determine it. */
  readonly output_tokens: Spread | null;
  /** Several pairs of lengths, instead of the two above. */
  readonly lengths: readonly LengthShare[] | null;
  /** Length of the system prompt that all requests share; 0: none. */
  readonly shared_system_prompt_tokens: number;
  /** Each prompt begins with one of `count` prefixes. */
  readonly prefix_prompts: { readonly count: number; readonly tokens: number } | null;
  /** Prefixes of several levels, or of unequal popularity; absent: `prefix_prompts` says all, or there are none. */
  readonly prefix_tree?: {
    /** From the root: branches of each node and tokens of each. */
    readonly levels: readonly { readonly count: number; readonly tokens: number }[];
    /** The n-th branch is drawn with a probability proportional to 1 / n^alpha. */
    readonly zipf_alpha: number;
  };
  /** The warm-up began with one request for each prefix; absent: it did not. */
  readonly primed_prefixes?: true;
  /** Length of the text that begins each conversation; 0: none. */
  readonly user_context_tokens: number;
  /** Turns of a conversation and the user's delay before the next one; null: single requests, or those of a file. */
  readonly conversation: { readonly turns: Spread; readonly delay_seconds: Spread } | null;
  /** Texts of a request that are embedded, or ranked by a query of so many tokens (null: none); absent: a prompt. */
  readonly documents?: { readonly count: number; readonly query_tokens: number | null };
  /** Images and audio of a request; absent: none. */
  readonly images?: RunImages;
  readonly audio?: RunAudio;
  /** Factor of the delays between turns; null where there are none. */
  readonly delay_factor: number | null;
  /** Number of different requests before they recur; null: they do not, or the file determines it. */
  readonly entries: number | null;
  readonly file: RunDatasetFile | null;
  /** The recorded load that a plan reproduces; absent: none. */
  readonly recorded_load?: RecordedLoad;
  readonly tokenizer: RunTokenizer | null;
  /** Of lengths, order and texts. */
  readonly seed: number;
  /** Which texts of the seed were sent: the same variant has the same texts; null: those of the file. */
  readonly prompt_variant: number | null;
}

/** What media requests had; null where it does not apply, or the file of the requests determines it. */
interface RunMedia {
  /** Of each request, and in conversations of each turn. */
  readonly count: number | null;
  readonly source: 'synthetic' | 'files' | 'urls' | 'files_and_urls';
  /** How many different ones there are; null: no two requests have the same. */
  readonly different: number | null;
  /** Hex SHA-256 of the files and addresses in their order. */
  readonly sha256: string | null;
}

export interface RunImages extends RunMedia {
  /** In pixels: of several sizes each image has one. */
  readonly sizes: readonly { readonly width: number; readonly height: number }[] | null;
  readonly format: 'jpeg' | 'png' | null;
}

/** Clips of audio; the synthetic ones are WAV files of one channel and 16 bits. */
export interface RunAudio extends RunMedia {
  readonly length_seconds: Spread | null;
  /** Of several sample rates each clip has one. */
  readonly sample_rates_hz: readonly number[] | null;
}

/** The data set that a file was downloaded from. */
export interface DatasetSource {
  /** As `--dataset` names it. */
  readonly name: string;
  /** The commit that was downloaded, or the entity tag of the file; null: its owner states none. */
  readonly revision: string | null;
}

export interface RunDatasetFile {
  /** Without its folder. */
  readonly name: string;
  /** Hex SHA-256 of the content; of a folder: of the hashes of its files. */
  readonly sha256: string;
  readonly sampling_strategy: string;
  /** Tokens of one hash id of a trace; null for other formats. */
  readonly block_tokens: number | null;
  /** Absent: a file that the user gave. */
  readonly source?: DatasetSource;
}

export interface RunTokenizer {
  readonly name: string;
  /** Branch, tag or commit; only used for a model of the Hugging Face hub. */
  readonly revision: string;
  /** Hex SHA-256 of its definition, or name and version of a built-in one. */
  readonly identity: string;
}

/** Short: `ISL 512±50, OSL 128, system prompt 100`, `documents 8, ISL 512, query 32`, or the file with its format. */
export function datasetText(dataset: RunDataset): string {
  const { file, input_tokens, output_tokens, lengths, conversation, entries } = dataset;
  const { documents } = dataset;
  const parts = [
    file && `${dataset.type} ${file.source?.name ?? file.name}`,
    documents && `documents ${documents.count}`,
    input_tokens && `ISL ${spreadText(input_tokens)}`,
    // Documents are read, and nothing is generated.
    documents === undefined && output_tokens && `OSL ${spreadText(output_tokens)}`,
    lengths && `ISL/OSL ${lengths.map(shareText).join(' ')}`,
    dataset.shared_system_prompt_tokens > 0 && `system prompt ${dataset.shared_system_prompt_tokens}`,
    prefixText(dataset),
    dataset.user_context_tokens > 0 && `context ${dataset.user_context_tokens}`,
    dataset.images && imagesText(dataset.images),
    dataset.audio && audioText(dataset.audio),
    documents && documents.query_tokens !== null && `query ${documents.query_tokens}`,
    conversation && `turns ${spreadText(conversation.turns)}`,
    entries !== null && `entries ${entries}`,
  ];
  return parts.filter((part) => typeof part === 'string').join(', ');
}

function prefixText({ prefix_prompts: one, prefix_tree: tree, primed_prefixes: primed }: RunDataset): string | null {
  const levels = tree?.levels ?? (one === null ? [] : [one]);
  if (levels.length === 0) return null;
  const zipf = tree === undefined || tree.zipf_alpha === 0 ? '' : ` zipf ${tree.zipf_alpha}`;
  const text = levels.map(({ count, tokens }) => `${count}×${tokens}`).join(' ');
  return `prefixes ${text}${zipf}${primed === true ? ' primed' : ''}`;
}

/**
 * Tokens of every prompt, the texts that requests share included; null where files, pairs of lengths, the turns of a
 * conversation, images or audio determine them.
 */
export function promptTokens(dataset: RunDataset): Spread | null {
  const { input_tokens, conversation, shared_system_prompt_tokens, prefix_prompts, user_context_tokens } = dataset;
  const levels = dataset.prefix_tree?.levels ?? (prefix_prompts === null ? [] : [prefix_prompts]);
  const prefix = levels.reduce((sum, { tokens }) => sum + tokens, 0);
  const hasMedia = dataset.images !== undefined || dataset.audio !== undefined;
  if (input_tokens === null || conversation !== null || hasMedia) return null;
  if (dataset.documents !== undefined) {
    const { count, query_tokens } = dataset.documents;
    // The query is read with each document.
    const mean = count * (input_tokens.mean + (query_tokens ?? 0));
    return { mean, stddev: Math.sqrt(count) * input_tokens.stddev };
  }
  const shared = shared_system_prompt_tokens + prefix + user_context_tokens;
  return { mean: input_tokens.mean + shared, stddev: input_tokens.stddev };
}

function imagesText({ sizes, format, ...images }: RunImages): string {
  const size = sizes?.map(({ width, height }) => `${width}×${height}`).join('/');
  return mediaText('images', images, size === undefined ? null : `${size} ${format ?? ''}`);
}

function audioText({ length_seconds: length, sample_rates_hz: rates, ...audio }: RunAudio): string {
  return mediaText(
    'audio',
    audio,
    length && `${spreadText(length)} s ${(rates ?? []).map((hz) => hz / 1000).join('/')} kHz`,
  );
}

function mediaText(kind: string, { count, source, different }: RunMedia, synthetic: string | null): string {
  const what = synthetic ?? `of ${different ?? 0} ${source.replaceAll('_', ' ')}`;
  const times = synthetic === null ? ' ' : ' × ';
  return `${kind} ${count === null ? '' : `${count}${times}`}${what}`;
}

const spreadText = ({ mean, stddev }: Spread): string => (stddev === 0 ? String(mean) : `${mean}±${stddev}`);

const shareText = ({ input_tokens, output_tokens, share }: LengthShare): string =>
  `${spreadText(input_tokens)}/${spreadText(output_tokens)}:${Number((share * 100).toFixed(2))}%`;
