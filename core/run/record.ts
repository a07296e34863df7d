/**
 * What was measured of one request. This is the row of `records/<shard>.parquet` and the line of its JSONL form, so the
 * keys are the file's column names. Times are integer nanoseconds since the run's monotonic start (run.json holds that
 * start as wall time); `null` means unknown, never zero.
 */
export interface RequestRecord {
  /** Position in the plan, unique in a run, from 0. */
  readonly index: number;
  readonly phase: PhaseName;
  /** When the schedule wanted it sent. */
  readonly due_ns: number;
  /** Just before the request was handed to a transport that had a free slot. */
  readonly sent_ns: number;
  /** Arrival of the first chunk with content (text, reasoning or a tool call). */
  readonly first_content_ns: number | null;
  /** Arrival of the last chunk with content. */
  readonly last_content_ns: number | null;
  /** When the answer had been read to its end, or failed. */
  readonly end_ns: number;
  readonly connection_reused: boolean | null;
  readonly connect_ns: number | null;
  readonly outcome: Outcome;
  /** Why it is not ok; null when it is. */
  readonly reason: ErrorReason | null;
  readonly http_status: number | null;
  readonly input_tokens: number | null;
  readonly input_tokens_source: TokenSource | null;
  readonly output_tokens: number | null;
  readonly output_tokens_source: TokenSource | null;
  readonly reasoning_tokens: number | null;
  readonly cached_tokens: number | null;
  /** `max_tokens` that was asked for. */
  readonly requested_output_tokens: number;
  /** Arrival of each chunk with content, nanoseconds since `sent_ns`. */
  readonly chunk_offsets_ns: readonly number[];
}

export const PHASES = ['warmup', 'measure'] as const;
export type PhaseName = (typeof PHASES)[number];

export const OUTCOMES = ['ok', 'error', 'timeout', 'cancelled'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Who counted the tokens: the server's `usage`, or a tokenizer on this side. Chunks are never counted as tokens. */
export type TokenSource = 'usage' | 'tokenizer';

/** The closed list of why a request failed, in order of precedence: the first rule that holds names the failure. */
export const ERROR_REASONS = [
  'connect_refused',
  'connect_timeout',
  'dns',
  'tls',
  'reset',
  'http_429',
  'http_4xx',
  'http_5xx',
  'not_a_stream',
  'malformed_event',
  'error_event',
  'no_finish',
  'no_content',
  'idle_timeout',
  'request_timeout',
  'cancelled',
  'other',
] as const;
export type ErrorReason = (typeof ERROR_REASONS)[number];
