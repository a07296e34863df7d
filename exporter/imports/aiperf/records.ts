import { outcomeOf } from '../../../core/measures/error-reasons.ts';
import { NOT_COUNTED } from '../../../core/run/record.ts';
import type { HttpPhases, RequestRecord, TokenSource } from '../../../core/run/record.ts';
import { Fields } from '../reading/fields.ts';
import type { ImportNotes } from '../import-notes.ts';
import { lineObject, longLineNote } from '../reading/read-json-lines.ts';
import { readLineBlocks } from '../reading/read-lines.ts';
import type { Reading, SourceFile } from '../reading/source-file.ts';
import { aiperfReason, statusOf } from './reasons.ts';
import type { RecordsOrigin } from './records-origin.ts';
import { wallNanoseconds } from './wall-nanoseconds.ts';

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
  for await (const { bytes, edges, firstNumber, endsOpen } of readLineBlocks(file, reading, longLineNote(notes))) {
    for (let i = 0; i < edges.length; i += 2) {
      const number = firstNumber + i / 2;
      const text = bytes.toString('utf8', edges[i], edges[i + 1]);
      const mayBeTorn = endsOpen && i + 2 === edges.length;
      const value = lineObject(text, { file, number, mayBeTorn }, notes);
      const record = value === null ? null : recordOfLine(value, text, index, origin, notes, `line ${number}: `);
      if (record === null) {
        if (value !== null) notes.count('records left out: no request_start_ns or request_end_ns', `line ${number}`);
        continue;
      }
      const isUncounted = record.outcome === 'ok' && record.output_tokens === null;
      if (origin.usage.output && isUncounted) notes.count(NO_USAGE, `line ${number}`);
      yield record;
      index += 1;
    }
  }
}

/** The record of a line; null when it has no time of sending or of the end. */
function recordOfLine(
  value: Readonly<Record<string, unknown>>,
  text: string,
  index: number,
  { zero_ns, usage }: RecordsOrigin,
  notes: ImportNotes,
  at: string,
): RequestRecord | null {
  const line = new Fields(value, notes, at);
  const metadata = line.object('metadata') ?? new Fields({}, notes, at);
  const metrics = new LineMetrics(line.object('metrics') ?? new Fields({}, notes, at));
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
    index,
    phase: metadata.text('benchmark_phase') === 'warmup' ? 'warmup' : 'measure',
    due_ns: wallNanoseconds(text, 'credit_issued_ns', zero_ns),
    sent_ns,
    first_content_ns: first === null ? null : sent_ns + first,
    first_output_ns: after(sent_ns, metrics.ns('time_to_first_output_token')),
    last_content_ns: last !== null ? sent_ns + last : failed ? null : end_ns,
    end_ns,
    ...connection(metrics, phases),
    connection_retried: null,
    outcome: outcomeOf(reason),
    reason,
    http_status: error !== null ? statusOf(error) : (line.object('trace_data')?.number('response_status_code') ?? null),
    ...tokens(metrics, usage),
    requested_output_tokens: requestedTokens(metrics),
    chunk_offsets_ns: chunkOffsets(first, metrics.list_ns('inter_chunk_latency')),
    ...NOT_COUNTED,
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
    return this.#metrics.has(tag) ? (this.#metrics.object(tag)?.number('value') ?? null) : null;
  }

  ns(tag: string): number | null {
    const metric = this.#metrics.has(tag) ? this.#metrics.object(tag) : null;
    const value = metric?.number('value') ?? null;
    return value === null ? null : Math.round(value * nanosecondsPer(metric?.text('unit') ?? 'ms'));
  }

  list_ns(tag: string): readonly number[] | null {
    const metric = this.#metrics.has(tag) ? this.#metrics.object(tag) : null;
    const scale = nanosecondsPer(metric?.text('unit') ?? 'ms');
    return metric?.numbers('value')?.map((value) => (value === null ? NaN : Math.round(value * scale))) ?? null;
  }

  tokens(tag: string): number | null {
    const value = this.value(tag);
    return value === null ? null : Math.round(value);
  }

  bytes(tag: string): number | null {
    const metric = this.#metrics.has(tag) ? this.#metrics.object(tag) : null;
    const value = metric?.number('value') ?? null;
    return value === null ? null : Math.round(metric?.text('unit') === 'KB' ? value * BYTES_PER_KB : value);
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
function tokens(
  metrics: LineMetrics,
  hasUsage: RecordsOrigin['usage'],
): Pick<
  RequestRecord,
  | 'input_tokens'
  | 'input_tokens_source'
  | 'output_tokens'
  | 'output_tokens_source'
  | 'reasoning_tokens'
  | 'cached_tokens'
> {
  const counted = (tag: string, source: TokenSource): readonly [number | null, TokenSource | null] => {
    const count = metrics.tokens(tag);
    return [count, count === null ? null : source];
  };
  const [input_tokens, input_tokens_source] = hasUsage.input
    ? counted('usage_prompt_tokens', 'usage')
    : counted('input_sequence_length', 'tokenizer');
  const [output_tokens, output_tokens_source] = hasUsage.output
    ? counted('usage_completion_tokens', 'usage')
    : counted('output_sequence_length', 'tokenizer');
  const reasoning = hasUsage.output ? 'usage_reasoning_tokens' : 'reasoning_token_count';
  return {
    input_tokens,
    input_tokens_source,
    output_tokens,
    output_tokens_source,
    reasoning_tokens: metrics.tokens(reasoning),
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
