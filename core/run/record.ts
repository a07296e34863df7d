/**
 * What was measured of one request. This is the row of `records/<shard>.parquet` and the line of its JSONL form, so the
 * keys are the file's column names. Times are integer nanoseconds since the run's monotonic start (run.json holds that
 * start as wall time); `null` means unknown, never zero.
 */
export interface RequestRecord extends HttpPhases, CountedTokens, ConversationPlace {
  /** Position in the plan, unique in a run, from 0. */
  readonly index: number;
  readonly phase: PhaseName;
  /** Number, from 1, of the stage in which it was due; null or absent: the load has no stages. */
  readonly stage?: number | null;
  /** Its model's name in the request; null or absent: all requests of the run are for the same one. */
  readonly model?: string | null;
  /** When the schedule wanted it sent; null only in imports. */
  readonly due_ns: number | null;
  /** Just before the request was handed to a transport that had a free slot. */
  readonly sent_ns: number;
  /** Arrival of the first chunk with content (text, reasoning or a tool call). */
  readonly first_content_ns: number | null;
  /** Arrival of the first chunk with content that is not reasoning; a nanosecond later if reasoning came in the same read. */
  readonly first_output_ns: number | null;
  /** Arrival of the last chunk with content. */
  readonly last_content_ns: number | null;
  /** When the response had been read to its end, or failed. */
  readonly end_ns: number;
  readonly connection_reused: boolean | null;
  readonly connect_ns: number | null;
  /** The TCP handshake of its connection, without DNS lookup and TLS: a network round trip. Null or absent: it was open already, or not known. */
  readonly tcp_connect_ns?: number | null;
  /** Whether it was sent a second time because the first connection was of no use; the time lost is in its latency. */
  readonly connection_retried: boolean | null;
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
  /** `max_tokens` that was requested; null only in imports. */
  readonly requested_output_tokens: number | null;
  /** Tokens of the prompt that stand for images and audio, as the server counts them; null or absent: not reported. */
  readonly image_tokens?: number | null;
  readonly audio_tokens?: number | null;
  /** Texts that were embedded, scored or ranked; null or absent: the response is generated. */
  readonly documents?: number | null;
  /** Images in the request, those of earlier turns included, and their bytes; null or absent: no requests have images, or not known. */
  readonly images?: number | null;
  /** Null also where an image is an address. */
  readonly image_bytes?: number | null;
  /** Length and bytes of the audio in the request, likewise; the length is known of WAV files alone. */
  readonly audio_ns?: number | null;
  readonly audio_bytes?: number | null;
  /** Of the body as it was sent; null or absent: an import does not report it. */
  readonly request_bytes?: number | null;
  /** Its trace (W3C Trace Context), 32 hexadecimal digits; null or absent: no trace was requested of the server. */
  readonly trace_id?: string | null;
  /** Arrival of each chunk with content, nanoseconds since `sent_ns`; empty for an ok request when it is not known. */
  readonly chunk_offsets_ns: readonly number[];
}

/** Where a request stands in its conversation. All null or absent for a request of its own, and where it is not known. */
export interface ConversationPlace {
  /** Identifies the conversation in the run: the `index` of its first request. */
  readonly conversation?: number | null;
  /** Number of the turn, from 1; of several agents in one conversation each counts its own. */
  readonly turn?: number | null;
  /** Number of the agent that sent it, from 1; null: the conversation has only one. */
  readonly agent?: number | null;
  /** Requests that the conversation has when it is complete. */
  readonly conversation_requests?: number | null;
  /** Planned pause of the user before the turn; null for the first. */
  readonly think_ns?: number | null;
  /** Planned time of tools before the turn; null when none was called. */
  readonly tool_ns?: number | null;
  /** When it would have been sent at the recorded time since the start of its conversation; null: no such time is known. */
  readonly planned_ns?: number | null;
}

/** The record of a request that we sent: everything that an import may not report is known. */
export interface MeasuredRecord extends RequestRecord {
  readonly due_ns: number;
  readonly requested_output_tokens: number;
}

/**
 * Where the time of a request went below its meaning, as AIPerf's `--export-http-trace` and k6 part it. All null unless it
 * was requested; null where the transport cannot report.
 */
export interface HttpPhases {
  /** From the hand-over to the transport until a connection began to open, or, on an open one, until sending began. */
  readonly http_blocked_ns: number | null;
  /** Null when no name was looked up. */
  readonly http_dns_lookup_ns: number | null;
  /** Opening the connection, TLS included and the look-up not; null when it was open. */
  readonly http_connecting_ns: number | null;
  /** The part of `http_connecting_ns` after TCP; null without TLS. */
  readonly http_tls_handshaking_ns: number | null;
  /** From the first to the last byte of the request handed to the operating system. */
  readonly http_sending_ns: number | null;
  /** From the last byte of the request to the first of the response's body. */
  readonly http_waiting_ns: number | null;
  /** From the first to the last bytes of the response's body; 0 when they came in one piece. */
  readonly http_receiving_ns: number | null;
  /** Bytes of the bodies, without framing. */
  readonly http_data_sent_bytes: number | null;
  readonly http_data_received_bytes: number | null;
}

/**
 * What a tokenizer on this side counted, whether or not the server reported a number too: so that the two can be compared. Null
 * where it did not count; the text has no chat template and no special tokens.
 */
export interface CountedTokens {
  readonly counted_input_tokens: number | null;
  /** Reasoning included. */
  readonly counted_output_tokens: number | null;
  readonly counted_reasoning_tokens: number | null;
}

/** Of a request whose tokens were not counted on this side. */
export const NOT_COUNTED: CountedTokens = {
  counted_input_tokens: null,
  counted_output_tokens: null,
  counted_reasoning_tokens: null,
};

/** Of a request of its own. */
export const NO_CONVERSATION: ConversationPlace = {
  conversation: null,
  turn: null,
  agent: null,
  conversation_requests: null,
  think_ns: null,
  tool_ns: null,
  planned_ns: null,
};

/** Of a request that was not traced. */
export const NOT_TRACED: HttpPhases = {
  http_blocked_ns: null,
  http_dns_lookup_ns: null,
  http_connecting_ns: null,
  http_tls_handshaking_ns: null,
  http_sending_ns: null,
  http_waiting_ns: null,
  http_receiving_ns: null,
  http_data_sent_bytes: null,
  http_data_received_bytes: null,
};

/** `cooldown`: requests that keep the load constant until the last request of `measure` has ended. */
export const PHASES = ['warmup', 'measure', 'cooldown'] as const;
export type PhaseName = (typeof PHASES)[number];
/** A phase with a load of its own: the cool-down continues that of the measure phase. */
export type LoadPhase = Exclude<PhaseName, 'cooldown'>;

export const OUTCOMES = ['ok', 'error', 'timeout', 'cancelled'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Who counted the tokens: the server's `usage`, or a tokenizer on this side. Chunks are never counted as tokens. */
export type TokenSource = 'usage' | 'tokenizer';

/**
 * The closed list of why a request failed, in order of precedence: the first rule that holds names the failure. The
 * metric reference and reports have these texts.
 */
export const ERROR_REASON_RULES = {
  connect_refused: 'nothing listened at the address',
  connect_timeout: 'the connection was not established within the connect timeout',
  dns: 'the host name did not resolve',
  tls: 'the TLS handshake failed',
  reset: 'the connection was closed or reset before the response was complete',
  protocol: 'the response is not valid HTTP/1.1',
  redirect: 'HTTP status 300 to 399: redirects are not followed',
  http_429: 'HTTP status 429',
  http_4xx: 'any other HTTP status from 400 to 499',
  http_5xx: 'HTTP status 500 to 599',
  compression: 'the body is compressed although identity was requested',
  not_a_stream: 'HTTP 2xx whose body is not the requested stream',
  malformed_event: 'an event of the stream is not valid JSON of the protocol',
  error_event: 'an `error` object inside the stream',
  no_finish: 'the stream ended without a finish reason, and without usage followed by [DONE]',
  no_content: 'the stream finished without any content',
  first_token_timeout: 'no content of the stream within the first-token timeout',
  idle_timeout: 'no further byte of a response that had begun for longer than the idle timeout',
  request_timeout: 'the request took longer than the request timeout',
  cancelled: 'the client cancelled the request',
  other: 'none of the other reasons',
} as const;
export type ErrorReason = keyof typeof ERROR_REASON_RULES;
export const ERROR_REASONS = Object.keys(ERROR_REASON_RULES) as ErrorReason[];

/** Requests by how they ended; null: not known, as of a file of another tool that does not report it. */
export type RequestCounts = Readonly<Record<Outcome, number | null>>;

/** How many requests there were of these outcomes; null when one of the counts is not known: a sum of the others would understate. */
export function countOf(counts: RequestCounts, outcomes: readonly Outcome[]): number | null {
  return outcomes.reduce<number | null>((sum, outcome) => {
    const count = counts[outcome];
    return sum === null || count === null ? null : sum + count;
  }, 0);
}

/** How many requests a cool-down had; 0 without one. */
export function coolDownCount(counts: RequestCounts | undefined): number {
  return counts === undefined ? 0 : (countOf(counts, OUTCOMES) ?? 0);
}

/** Outcomes of requests that were given a response and failed; cancelled ones were given up by the client. */
export const FAILED_OUTCOMES = ['error', 'timeout'] as const satisfies readonly Outcome[];

const TIMEOUTS: ReadonlySet<ErrorReason> = new Set([
  'connect_timeout',
  'first_token_timeout',
  'idle_timeout',
  'request_timeout',
]);

/** The outcome that goes with a reason; no reason is `ok`. */
export function outcomeOf(reason: ErrorReason | null): Outcome {
  if (reason === null) return 'ok';
  if (reason === 'cancelled') return 'cancelled';
  return TIMEOUTS.has(reason) ? 'timeout' : 'error';
}
