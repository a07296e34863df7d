import type { CountedTokens, HttpPhases, RequestRecord, TokenSource } from '../run/record.ts';

/** The phases that are times. */
export type HttpTimes = Omit<HttpPhases, 'http_data_sent_bytes' | 'http_data_received_bytes'>;

/**
 * The numbers of one request from which its measures come: its record without the list of chunks, so that a run can keep
 * them for every request. Times are ns since the run's start; null is what is not known.
 */
export interface RequestFigures
  extends
    HttpTimes,
    Pick<
      RequestRecord,
      | 'due_ns'
      | 'sent_ns'
      | 'first_content_ns'
      | 'first_output_ns'
      | 'last_content_ns'
      | 'end_ns'
      | 'connect_ns'
      | 'input_tokens'
      | 'output_tokens'
      | 'reasoning_tokens'
      | 'cached_tokens'
      | 'requested_output_tokens'
      | keyof CountedTokens
    > {
  /** Planned pauses before a turn of a conversation: see `ConversationPlace`. */
  readonly think_ns: number | null;
  readonly tool_ns: number | null;
  readonly planned_ns: number | null;
  readonly image_tokens: number | null;
  readonly audio_tokens: number | null;
  readonly images: number | null;
  readonly image_bytes: number | null;
  readonly audio_ns: number | null;
  readonly audio_bytes: number | null;
  readonly request_bytes: number | null;
  /** Arrival of the second chunk with content. */
  readonly second_content_ns: number | null;
  /** How many chunks had content. */
  readonly content_chunks: number;
}

/** Every name of a figure, in a fixed order. */
export const FIGURE_NAMES = [
  'due_ns',
  'sent_ns',
  'first_content_ns',
  'second_content_ns',
  'first_output_ns',
  'last_content_ns',
  'end_ns',
  'connect_ns',
  'input_tokens',
  'output_tokens',
  'reasoning_tokens',
  'cached_tokens',
  'requested_output_tokens',
  'think_ns',
  'tool_ns',
  'planned_ns',
  'image_tokens',
  'audio_tokens',
  'images',
  'image_bytes',
  'audio_ns',
  'audio_bytes',
  'request_bytes',
  'counted_input_tokens',
  'counted_output_tokens',
  'counted_reasoning_tokens',
  'content_chunks',
  'http_blocked_ns',
  'http_dns_lookup_ns',
  'http_connecting_ns',
  'http_tls_handshaking_ns',
  'http_sending_ns',
  'http_waiting_ns',
  'http_receiving_ns',
] as const satisfies readonly (keyof RequestFigures)[];

/** Numbers of tokens, and what a tokenizer counted beside the server. */
export type ComparedTokens = Pick<
  RequestFigures,
  'input_tokens' | 'output_tokens' | 'reasoning_tokens' | keyof CountedTokens
>;

/**
 * The output tokens that were sent. Some servers count reasoning that they do not send: then the first content is the first output.
 * A response whose reasoning is mixed with its output has no time of a first output.
 */
export function sentTokens({
  first_content_ns: content,
  first_output_ns: output,
  output_tokens: tokens,
  reasoning_tokens: reasoning,
}: Pick<RequestFigures, 'first_content_ns' | 'first_output_ns' | 'output_tokens' | 'reasoning_tokens'>): number | null {
  return tokens === null || reasoning === null || output === null || output !== content ? tokens : tokens - reasoning;
}

/** What a tokenizer counted beside the server: where there is only its own number there is nothing to compare. */
function besideUsage(source: TokenSource | null, counted: number | null): number | null {
  return source === 'usage' ? counted : null;
}

/** The figures that are compared with each other, without the others: it is read at every request. */
export function comparedTokens(record: RequestRecord): ComparedTokens {
  return {
    input_tokens: record.input_tokens,
    output_tokens: record.output_tokens,
    reasoning_tokens: record.reasoning_tokens,
    counted_input_tokens: besideUsage(record.input_tokens_source, record.counted_input_tokens),
    counted_output_tokens: besideUsage(record.output_tokens_source, record.counted_output_tokens),
    counted_reasoning_tokens: record.counted_reasoning_tokens,
  };
}

/** The figures of a record. */
export function figuresOf(record: RequestRecord): RequestFigures {
  const second = record.chunk_offsets_ns[1];
  return {
    due_ns: record.due_ns,
    sent_ns: record.sent_ns,
    first_content_ns: record.first_content_ns,
    second_content_ns: second === undefined ? null : record.sent_ns + second,
    first_output_ns: record.first_output_ns,
    last_content_ns: record.last_content_ns,
    end_ns: record.end_ns,
    connect_ns: record.connect_ns,
    input_tokens: record.input_tokens,
    output_tokens: record.output_tokens,
    reasoning_tokens: record.reasoning_tokens,
    cached_tokens: record.cached_tokens,
    requested_output_tokens: record.requested_output_tokens,
    think_ns: record.think_ns ?? null,
    tool_ns: record.tool_ns ?? null,
    planned_ns: record.planned_ns ?? null,
    image_tokens: record.image_tokens ?? null,
    audio_tokens: record.audio_tokens ?? null,
    images: record.images ?? null,
    image_bytes: record.image_bytes ?? null,
    audio_ns: record.audio_ns ?? null,
    audio_bytes: record.audio_bytes ?? null,
    request_bytes: record.request_bytes ?? null,
    counted_input_tokens: besideUsage(record.input_tokens_source, record.counted_input_tokens),
    counted_output_tokens: besideUsage(record.output_tokens_source, record.counted_output_tokens),
    counted_reasoning_tokens: record.counted_reasoning_tokens,
    content_chunks: record.chunk_offsets_ns.length,
    http_blocked_ns: record.http_blocked_ns,
    http_dns_lookup_ns: record.http_dns_lookup_ns,
    http_connecting_ns: record.http_connecting_ns,
    http_tls_handshaking_ns: record.http_tls_handshaking_ns,
    http_sending_ns: record.http_sending_ns,
    http_waiting_ns: record.http_waiting_ns,
    http_receiving_ns: record.http_receiving_ns,
  };
}
