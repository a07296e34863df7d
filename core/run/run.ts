import type { Load } from './load.ts';
import type { Objectives } from './objectives.ts';
import type { Provenance } from './provenance.ts';
import type { PhaseName } from './record.ts';
import type { RunDataset } from './run-dataset.ts';

/** Everything that must be equal for two runs to be comparable; an unknown value is null and never counts as a match. */
export interface ComparisonKey {
  readonly endpoint_type: string | null;
  /** Its name in requests; of several models their names, for people. */
  readonly model: string | null;
  /** Absent when all requests are for the same model. */
  readonly model_mix?: ModelMix;
  readonly load: Load | null;
  /** Null when every request is read to its end. */
  readonly cancellation: CancellationKey | null;
  readonly stop: { readonly request_count: number | null; readonly benchmark_duration_seconds: number | null };
  /** Null when there is none. */
  readonly warmup: WarmupKey | null;
  /** The load goes on until the last measured request has ended; absent when it does not. */
  readonly cool_down?: true;
  /** Of fields of unknown names only these count as output; absent: all that have text. */
  readonly output_fields?: readonly string[];
  /** SHA-256 of the planned requests (lengths, arrivals, text seed). */
  readonly dataset_plan_sha256: string | null;
  readonly sampling: Readonly<Record<string, number | string | boolean | null>>;
  readonly streaming: boolean | null;
  /** measure → definition, so that a changed definition changes the fingerprint. */
  readonly measure_definitions: Readonly<Record<string, string>>;
}

export interface WarmupKey {
  readonly request_count: number | null;
  readonly duration_seconds: number | null;
  readonly load: Load;
}

/** Requests that are given up on purpose. */
export interface CancellationKey {
  /** Share of the requests, 0 to 1. */
  readonly ratio: number;
  readonly delay_seconds: number;
}

export const RUN_STATUSES = ['running', 'completed', 'aborted', 'failed'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** The phase's edges as wall time; `null` while it has not begun or ended. */
export interface PhaseWindow {
  readonly phase: PhaseName;
  readonly start: string | null;
  readonly end: string | null;
}

/** `run.json`: who ran what, against what, and how it ended. Instants are RFC 3339 in UTC with milliseconds. */
export interface RunFile {
  readonly schema_version: 7;
  readonly run_id: string;
  readonly status: RunStatus;
  /** True when a later command finished the run because its process was gone. */
  readonly recovered: boolean;
  readonly scenario: string;
  readonly comparison_key: ComparisonKey;
  readonly fingerprint: string;
  /** What the run has to meet; null when nothing was requested. */
  readonly gates: Objectives | null;
  readonly group_id: string | null;
  readonly step: number | null;
  readonly repeat: number | null;
  readonly shard: string;
  /** Only of a run that several machines made together, and of each of their parts. */
  readonly shards?: RunShards;
  /** Where the requests went: scheme, host and port only, never user info, path secrets or query. */
  readonly target: RunTarget;
  readonly tool: { readonly name: string; readonly version: string | null };
  /** The files that it was imported from; null for a run of our own. */
  readonly source: RunSource | null;
  /** How the client sent; null when it is not known. */
  readonly client: RunClient | null;
  /** What the requests were made of; null when it is not known. */
  readonly dataset: RunDataset | null;
  /**
   * The words of a command that measures the same again: the options of flags, environment and scenario file, for one
   * load of a sweep; without secrets and without what names this one execution. Null when it is not known.
   */
  readonly command_line: readonly string[] | null;
  /** What was measured, by whom and from where; null when it is not known. */
  readonly provenance: Provenance | null;
  /** What people call the run, to find and to keep it; in alphabetical order. */
  readonly tags: readonly string[];
  /** Wall time of the monotonic zero of the records; null for imports without a time of their own. */
  readonly start: string | null;
  readonly end: string | null;
  readonly phases: readonly PhaseWindow[];
  /** Only while it runs: whose run it is, and where its metrics are. */
  readonly process: RunProcess | null;
  /** The reason in one line when the status is failed or aborted. */
  readonly failure: string | null;
}

/** The parts of a run that several machines made together. */
export interface RunShards {
  readonly count: number;
  /** The shards whose requests are not in this run, by their numbers: in a part all others, in a whole run none. */
  readonly missing: readonly string[];
}

export interface RunTarget {
  /** Of the first server. */
  readonly origin: string | null;
  /** Of every server, in the order of the round-robin; null when it is not known. */
  readonly origins: readonly string[] | null;
  readonly system: string | null;
  readonly system_version: string | null;
}

export type TransportKind = 'undici' | 'raw';

/** What a run's requests went through. */
export interface RunClient {
  /** The HTTP client that was used, whichever was requested; null: different ones for different servers. */
  readonly transport: TransportKind | null;
  /** Whether the HTTP phases of the requests were recorded. */
  readonly http_trace: boolean;
  /** Whether the servers' caches were emptied before the first request. */
  readonly reset_kv_cache: boolean;
  /** Part of the requests, above 0, for which the servers were to record a trace; absent: none. */
  readonly trace_sample_ratio?: number;
  /** Field of the maximum output length in the requests; absent: the endpoint's own. */
  readonly max_tokens_field?: string;
}

/** Where an imported run comes from. */
export interface RunSource {
  /** Hex SHA-256 of the content: importing the same again changes nothing. */
  readonly sha256: string;
  /** Names of the files, without the folders that they were in. */
  readonly files: readonly string[];
  /** The format that they were read as, and the version of it that they name. */
  readonly format: string;
  readonly format_version: string | null;
  /** Members of `comparison_key` that the files do not report: never a match, also where null means "none". */
  readonly unknown: readonly string[];
  /** What a reader must know about the origin of the figures, one line each. */
  readonly notes: readonly string[];
  /**
   * When it was imported, RFC 3339, and its place among the runs of that import, from 0: the order of runs without a start.
   * Null when an earlier version imported it.
   */
  readonly imported_at: string | null;
  readonly position: number | null;
}

export interface RunProcess {
  readonly pid: number;
  /** Distinguishes the process from a later one with the same id: its start time as the operating system gives it. */
  readonly start_time: string;
  readonly metrics_url: string | null;
  /** The `/metrics` of the servers that it measures. */
  readonly server_metrics_urls: readonly string[];
}

const TAG = /^[0-9A-Za-z._-]{1,64}$/;

export const TAG_RULE = "1 to 64 characters of 0–9, A–Z, a–z, '.', '_' and '-'";

export const isTag = (text: string): boolean => TAG.test(text);

const MAX_NAME = 200;

export const NAME_RULE = `a name of 1 to ${MAX_NAME} characters on one line`;

/** Whether it may name a scenario: no line breaks, and nothing that changes how the text around it is shown. */
export const isName = (text: string): boolean =>
  text.trim() !== '' && text.length <= MAX_NAME && !/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(text);

/** Tags with some added and some removed, sorted and each once. */
export function changedTags(
  tags: readonly string[],
  { add, remove }: { readonly add: readonly string[]; readonly remove: readonly string[] },
): readonly string[] {
  const removed = new Set(remove);
  return [...new Set([...tags, ...add])].filter((tag) => !removed.has(tag)).sort();
}

/**
 * The wall time of a moment on a run's monotonic clock, RFC 3339 in UTC with milliseconds. `start` is the wall time of
 * the clock's zero; null when it is not known, and then so is the response.
 */
export function instantAt(start: string | null, at_ns: number): string | null {
  return start === null ? null : new Date(Date.parse(start) + at_ns / 1e6).toISOString();
}

/**
 * The measures whose definitions are in the key. Runs are compared by these; a measure that a later version adds is not
 * included, because it does not change the configuration: result.json has its definition anyway, and figures with
 * different definitions are never compared. Changing this list changes every fingerprint.
 */
export const KEYED_MEASURES = [
  'time_to_first_token',
  'time_to_first_token_from_due',
  'time_to_first_output_token',
  'time_to_second_token',
  'inter_token_latency',
  'inter_chunk_latency',
  'request_latency',
  'request_latency_from_due',
  'decode_duration',
  'schedule_delay',
  'connect_time',
  'input_sequence_length',
  'output_sequence_length',
  'output_token_count',
  'reasoning_token_count',
  'tokens_per_chunk',
  'prefill_throughput_per_user',
  'output_token_throughput_per_user',
  'e2e_output_token_throughput',
  'request_throughput',
  'output_token_throughput',
  'input_token_throughput',
  'total_token_throughput',
  'steady_request_throughput',
  'steady_output_token_throughput',
  'error_ratio',
  'cached_input_ratio',
  'achieved_output_ratio',
  'stall_ratio',
  'reused_connection_ratio',
  'effective_concurrency',
] as const;

/** The models, or adapters of a model, that the requests of one run are for. */
export interface ModelMix {
  /** Their shares add up to 1. */
  readonly models: readonly ModelShare[];
  /** `round_robin`: in turn; `random`: each request by the shares. */
  readonly selection: ModelSelection;
}

export interface ModelShare {
  /** Its name in requests. */
  readonly model: string;
  /** Planned part of the requests, or of the conversations, 0 to 1. */
  readonly share: number;
}

export const MODEL_SELECTIONS = ['round_robin', 'random'] as const;
type ModelSelection = (typeof MODEL_SELECTIONS)[number];

const NAMED = 4;

/** The names for people and labels: all of a few, else the first ones and how many more there are. */
export function modelNamesText(models: readonly string[]): string {
  if (models.length <= NAMED) return models.join(', ');
  return `${models.slice(0, NAMED - 1).join(', ')} and ${models.length - NAMED + 1} more`;
}

/** Most models that results and metrics distinguish; the rest together is `OTHER_MODELS`. */
const MAX_DISTINGUISHED = 16;
export const OTHER_MODELS = 'other';

/** The models that are distinguished, in their order: all of a few, else those with the largest shares, and the rest as one. */
export function distinguishedModels(mix: ModelMix | undefined): readonly string[] {
  const models = mix?.models ?? [];
  if (models.length <= MAX_DISTINGUISHED) return models.map(({ model }) => model);
  const largest = [...models].sort((a, b) => b.share - a.share).slice(0, MAX_DISTINGUISHED - 1);
  return [...models.filter((each) => largest.includes(each)).map(({ model }) => model), OTHER_MODELS];
}
