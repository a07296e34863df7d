import {
  ERROR_REASONS,
  type ConversationPlace,
  type ErrorReason,
  type HttpPhases,
  type RequestRecord,
  type TokenSource,
  outcomeOf,
} from '../../../core/run/record.ts';
import { ImportRefusal, type ImportNotes } from '../import-notes.ts';
import { UNREPORTED } from '../importer.ts';
import { Fields } from '../reading/fields.ts';
import { readLineBlocks, readJsonLines, type JsonLine } from '../reading/read-lines.ts';
import type { Reading, SourceFile } from '../reading/source-file.ts';

/**
 * The reasons for AIPerf's error types (names of Python exceptions, and its own) and messages, in order of precedence.
 */
const RULES: readonly (readonly [RegExp, ErrorReason])[] = [
  [/RequestCancell?ation|CancelledError/i, 'cancelled'],
  [/ConnectionRefused|Connect call failed|Connection refused|ECONNREFUSED/i, 'connect_refused'],
  [/ConnectionTimeout|ConnectTimeout|Connection timeout/i, 'connect_timeout'],
  [/DNS|getaddrinfo|Name or service not known|nodename nor servname/i, 'dns'],
  [/SSL|TLS|Certificate/i, 'tls'],
  [
    /ConnectionReset|ServerDisconnected|ClientOSError|BrokenPipe|ClientPayload|IncompleteRead|ClientConnectionError/i,
    'reset',
  ],
  [/SocketTimeout|ReadTimeout|IdleTimeout/i, 'idle_timeout'],
  [/Timeout/i, 'request_timeout'],
  [/NoContent|EmptyResponse|no content|InvalidInferenceResult/i, 'no_content'],
  [/JSONDecode|SSEResponseError.*pars|malformed/i, 'malformed_event'],
  [/SSE|error event/i, 'error_event'],
  [/ContentType|not a stream/i, 'not_a_stream'],
  [/ClientConnector/i, 'connect_refused'],
];

const CANCELLED_CODE = 499;

/** The reason for AIPerf's `{code, type, message}`. */
export function aiperfReason(error: Fields): ErrorReason {
  const code = error.number('code');
  const type = error.text('type') ?? '';
  const own = ERROR_REASONS.find((reason) => reason === type);
  // What llmbench itself exported in AIPerf's form.
  if (own !== undefined) return own;
  if (code === CANCELLED_CODE) return 'cancelled';
  if (code === 429) return 'http_429';
  if (code !== null && code >= 300 && code <= 399) return 'redirect';
  if (code !== null && code >= 400 && code <= 499) return 'http_4xx';
  if (code !== null && code >= 500 && code <= 599) return 'http_5xx';
  const text = `${type} ${error.text('message') ?? ''}`;
  return RULES.find(([pattern]) => pattern.test(text))?.[1] ?? 'other';
}

/** The HTTP status among the codes of an error; null when the code is none, or the client's own. */
function statusOf(error: Fields): number | null {
  const code = error.number('code');
  return code !== null && Number.isInteger(code) && code >= 100 && code <= 599 && code !== CANCELLED_CODE ? code : null;
}

const NS_PER_S = 1_000_000_000n;
const MILLISECOND_NS = 1_000_000n;

/** What holds for all lines of a file of records. */
interface RecordsOrigin {
  /** Nanoseconds since 1970 from which the times of the records count: the earliest of them, down to the millisecond. */
  readonly zero_ns: bigint;
  /**
   * Whether any response reports its tokens in its usage. Where one does, the tokens of a response without usage are
   * unknown: counts by AIPerf's tokenizer are another measure.
   */
  readonly usage: { readonly input: boolean; readonly output: boolean };
  /** Whether some request is a later turn: without one each request is of its own, whatever it is numbered as. */
  readonly hasTurns: boolean;
}

const TIMES = ['credit_issued_ns', 'request_start_ns'].map((key) => Buffer.from(`"${key}":`));
const DIGITS = /^\s*(\d{17,19})(?![\d.eE])/;

/** What is earlier than the first line by more than this comes from a clock that jumped. */
const MAX_RUN_NS = 30n * 86_400n * NS_PER_S;

/** Goes through a file of records once, before they are read. Throws `ImportRefusal` when no line has a time. */
export async function recordsOrigin(records: SourceFile, reading: Reading): Promise<RecordsOrigin> {
  const usage = { input: false, output: false };
  let hasTurns = false;
  let first: bigint | null = null;
  let earliest: bigint | null = null;
  // A line that is too long is noted when the records are read.
  for await (const { bytes } of readLineBlocks(records, reading, () => undefined)) {
    usage.input ||= bytes.includes('"usage_prompt_tokens"');
    usage.output ||= bytes.includes('"usage_completion_tokens"');
    hasTurns ||= hasLaterTurn(bytes);
    for (const name of TIMES) {
      for (let at = bytes.indexOf(name); at >= 0; at = bytes.indexOf(name, at + name.length)) {
        const digits = DIGITS.exec(bytes.toString('latin1', at + name.length, at + name.length + 24))?.[1];
        if (digits === undefined) continue;
        const value = BigInt(digits);
        first ??= value;
        if (value > first - MAX_RUN_NS && (earliest === null || value < earliest)) earliest = value;
      }
    }
  }
  if (earliest !== null) return { zero_ns: earliest - (earliest % MILLISECOND_NS), usage, hasTurns };
  throw new ImportRefusal(`${records.name}: no line has the time when its request was sent (request_start_ns)`);
}

const SPACE = 0x20;
const ZERO = 0x30;
const isDigit = (code: number): boolean => code >= ZERO && code <= 0x39;

const TURN = Buffer.from('"turn_index":');

function hasLaterTurn(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(TURN); at >= 0; at = bytes.indexOf(TURN, at + TURN.length)) {
    let digit = at + TURN.length;
    while (bytes[digit] === SPACE) digit += 1;
    const code = bytes[digit] ?? ZERO;
    if (isDigit(code) && code !== ZERO) return true;
  }
  return false;
}

/** The conversations of a file, by the index of their first request. */
class Conversations {
  readonly #first = new Map<string, number>();

  /** A subagent's requests are of the conversation of its parent. */
  placeOf(metadata: Fields, index: number): ConversationPlace {
    const turn = metadata.count('turn_index');
    const id = metadata.text('x_correlation_id') ?? metadata.text('conversation_id');
    if (turn === null || id === null) return {};
    const parent = metadata.text('parent_correlation_id');
    const conversation = this.#first.get(id) ?? this.#first.get(parent ?? '') ?? index;
    this.#first.set(id, conversation);
    return { conversation, turn: turn + 1 };
  }
}

/**
 * Nanoseconds since 1970 under a key in the text of a JSON line, counted from `zero_ns`. Wall clocks in nanoseconds are
 * above 2^53, where JSON.parse rounds. Null when the key is missing or its value is not a whole number.
 */
export function wallNanoseconds(text: string, key: string, zero_ns: bigint): number | null {
  const name = `"${key}":`;
  const found = text.indexOf(name);
  if (found < 0) return null;
  let from = found + name.length;
  while (text.charCodeAt(from) === SPACE) from += 1;
  let to = from;
  while (isDigit(text.charCodeAt(to))) to += 1;
  // 8 digits of seconds is 1973; a fraction or an exponent is not how AIPerf writes them.
  if (to - from < 17 || to - from > 19) return null;
  const seconds = Number(text.slice(from, to - 9)) - Number(zero_ns / NS_PER_S);
  return seconds * 1e9 + (Number(text.slice(to - 9, to)) - Number(zero_ns % NS_PER_S));
}

const NS_PER_MS = 1e6;
const BYTES_PER_KB = 1024;

const NO_USAGE = 'answers ended without usage: their tokens are unknown, a stream may have been cut off';

/** The requests of `profile_export.jsonl`, warm-up included. */
export async function* readAiperfRecords(
  file: SourceFile,
  origin: RecordsOrigin,
  notes: ImportNotes,
  reading: Reading,
): AsyncGenerator<RequestRecord> {
  let index = 0;
  const conversations = origin.hasTurns ? new Conversations() : null;
  for await (const line of readJsonLines(file, notes, reading)) {
    const where = `line ${line.number}`;
    const record = recordOfLine(line, index, { ...origin, conversations }, notes, `${where}: `);
    if (record === null) {
      notes.count('records left out: no request_start_ns or request_end_ns', where);
      continue;
    }
    if (origin.usage.output && record.outcome === 'ok' && record.output_tokens === null) notes.count(NO_USAGE, where);
    yield record;
    index += 1;
  }
}

/** The record of a line; null when it has no time of sending or of the end. */
function recordOfLine(
  { value, text }: JsonLine,
  index: number,
  { zero_ns, usage, conversations }: Omit<RecordsOrigin, 'hasTurns'> & { readonly conversations: Conversations | null },
  notes: ImportNotes,
  at: string,
): RequestRecord | null {
  const line = new Fields(value, notes, at);
  const metadata = line.at('metadata');
  const metrics = new LineMetrics(line.at('metrics'));
  // Above 2^53: JSON.parse would round them to 256 ns.
  const sent_ns = wallNanoseconds(text, 'request_start_ns', zero_ns);
  const end_ns = wallNanoseconds(text, 'request_end_ns', zero_ns);
  if (sent_ns === null || end_ns === null) return null;
  const error = line.object('error');
  const cancelled = metadata.boolean('was_cancelled') === true;
  const reason = error !== null ? aiperfReason(error) : cancelled ? 'cancelled' : null;
  const failed = reason !== null;
  const phases = httpPhases(metrics);
  const first = metrics.ns('time_to_first_token');
  const last = metrics.ns('request_latency');
  return {
    ...UNREPORTED,
    index,
    phase: metadata.text('benchmark_phase') === 'warmup' ? 'warmup' : 'measure',
    ...conversations?.placeOf(metadata, index),
    due_ns: wallNanoseconds(text, 'credit_issued_ns', zero_ns),
    sent_ns,
    first_content_ns: first === null ? null : sent_ns + first,
    first_output_ns: after(sent_ns, metrics.ns('time_to_first_output_token')),
    last_content_ns: last !== null ? sent_ns + last : failed ? null : end_ns,
    end_ns,
    ...connection(metrics, phases),
    outcome: outcomeOf(reason),
    reason,
    http_status: error !== null ? statusOf(error) : line.at('trace_data').number('response_status_code'),
    ...tokens(metrics, usage),
    requested_output_tokens: requestedTokens(metrics),
    chunk_offsets_ns: chunkOffsets(first, metrics.list_ns('inter_chunk_latency')),
    ...phases,
  };
}

const after = (start: number, offset: number | null): number | null => (offset === null ? null : start + offset);

/** The metrics of a line: `{tag: {value, unit}}`. */
class LineMetrics {
  readonly #metrics: Fields;

  constructor(metrics: Fields) {
    this.#metrics = metrics;
  }

  /** As in the file. */
  value(tag: string): number | null {
    return this.#metric(tag)?.number('value') ?? null;
  }

  ns(tag: string): number | null {
    const metric = this.#metric(tag);
    const value = metric?.number('value') ?? null;
    return value === null ? null : Math.round(value * nanosecondsPer(metric?.text('unit') ?? 'ms'));
  }

  list_ns(tag: string): readonly number[] | null {
    const metric = this.#metric(tag);
    const scale = nanosecondsPer(metric?.text('unit') ?? 'ms');
    return metric?.numbers('value')?.map((value) => (value === null ? NaN : Math.round(value * scale))) ?? null;
  }

  tokens(tag: string): number | null {
    const value = this.value(tag);
    return value === null ? null : Math.round(value);
  }

  bytes(tag: string): number | null {
    const metric = this.#metric(tag);
    const value = metric?.number('value') ?? null;
    return value === null ? null : Math.round(metric?.text('unit') === 'KB' ? value * BYTES_PER_KB : value);
  }

  #metric(tag: string): Fields | null {
    return this.#metrics.has(tag) ? this.#metrics.object(tag) : null;
  }
}

function nanosecondsPer(unit: string): number {
  if (unit === 'ns') return 1;
  if (unit === 'us') return 1e3;
  return unit === 'sec' || unit === 's' ? 1e9 : NS_PER_MS;
}

/** Gaps follow the first chunk; without a first chunk it is not known when any of them came. */
function chunkOffsets(first_ns: number | null, gaps_ns: readonly number[] | null): number[] {
  if (first_ns === null || gaps_ns === null) return [];
  let at = first_ns;
  return [first_ns, ...gaps_ns.map((gap) => (at += gap))];
}

/** The server's own count where the file has any, else that of AIPerf's tokenizer. */
function tokens(metrics: LineMetrics, hasUsage: RecordsOrigin['usage']): Partial<RequestRecord> {
  const input_tokens = metrics.tokens(hasUsage.input ? 'usage_prompt_tokens' : 'input_sequence_length');
  const output_tokens = metrics.tokens(hasUsage.output ? 'usage_completion_tokens' : 'output_sequence_length');
  const sourceOf = (count: number | null, isServers: boolean): TokenSource | null =>
    count === null ? null : isServers ? 'usage' : 'tokenizer';
  return {
    input_tokens,
    input_tokens_source: sourceOf(input_tokens, hasUsage.input),
    output_tokens,
    output_tokens_source: sourceOf(output_tokens, hasUsage.output),
    reasoning_tokens: metrics.tokens(hasUsage.output ? 'usage_reasoning_tokens' : 'reasoning_token_count'),
    cached_tokens: metrics.tokens('usage_prompt_cache_read_tokens'),
  };
}

/** What was requested, from AIPerf's own length and by how many per cent it missed. */
function requestedTokens(metrics: LineMetrics): number | null {
  const [length, missed] = [metrics.value('output_sequence_length'), metrics.value('osl_mismatch_diff_pct')];
  return length === null || missed === null || missed <= -100 ? null : Math.round(length / (1 + missed / 100));
}

function connection(
  metrics: LineMetrics,
  { http_connecting_ns: connecting }: HttpPhases,
): Pick<RequestRecord, 'connection_reused' | 'connect_ns'> {
  const reused = metrics.value('http_req_connection_reused');
  return {
    connection_reused: reused === null ? null : reused > 0,
    connect_ns: reused === null || reused > 0 ? null : connecting,
  };
}

function httpPhases(metrics: LineMetrics): HttpPhases {
  const isReused = (metrics.value('http_req_connection_reused') ?? 0) > 0;
  const opened = (tag: string): number | null => (isReused ? null : metrics.ns(tag));
  return {
    http_blocked_ns: metrics.ns('http_req_blocked'),
    http_dns_lookup_ns: opened('http_req_dns_lookup'),
    http_connecting_ns: opened('http_req_connecting'),
    http_tls_handshaking_ns: null,
    http_sending_ns: metrics.ns('http_req_sending'),
    http_waiting_ns: metrics.ns('http_req_waiting'),
    http_receiving_ns: metrics.ns('http_req_receiving'),
    http_data_sent_bytes: metrics.bytes('http_req_data_sent'),
    http_data_received_bytes: metrics.bytes('http_req_data_received'),
  };
}
