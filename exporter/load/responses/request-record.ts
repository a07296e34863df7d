import { things } from '../../../core/text/quantities.ts';
import {
  NO_CONVERSATION,
  type ConversationPlace,
  type ErrorReason,
  type MeasuredRecord,
  type PhaseName,
  type TokenSource,
  outcomeOf,
} from '../../../core/run/record.ts';
import type { ResponseContext } from './response-reader.ts';
import type { ResponseText, Usage } from '../endpoints/endpoint.ts';
import type { CountedRequest } from '../requests/request-feed.ts';
import { type ConnectionFacts, httpPhases } from '../transports/transport.ts';

/** A request as it was sent; times are relative to the start of the run. */
export interface SentRequest extends CountedRequest {
  readonly index: number;
  readonly phase: PhaseName;
  /** Null or absent: the load has no stages. */
  readonly stage?: number | null;
  /** Absent: a request of its own. */
  readonly place?: ConversationPlace | undefined;
  /** Null or absent: the run has one model. */
  readonly model?: string | null;
  /** Null or absent: it is not traced. */
  readonly trace_id?: string | null;
  readonly due_ns: number;
  readonly sent_ns: number;
  readonly requested_output_tokens: number;
  /** Choices requested; absent: one. */
  readonly choices?: number;
}

/** Output tokens of a response, as a tokenizer counts them. */
interface CountedOutput {
  /** Including reasoning. */
  readonly all: number;
  readonly reasoning: number;
}

/** What is known of its response at the end. */
export interface ReadResponse {
  readonly end_ns: number;
  readonly reason: ErrorReason | null;
  readonly status: number | null;
  readonly connection: ConnectionFacts | null;
  readonly usage: Usage | null;
  /** As the client's tokenizer counts them; null when it did not. */
  readonly counted_output_tokens: CountedOutput | null;
  /** Arrival of each content chunk, relative to the time the request was sent. */
  readonly offsets_ns: readonly number[];
  /** The first of them whose content is not reasoning, from 0: several may arrive at one time. Null: there is none. */
  readonly firstOutputChunk: number | null;
  /** Arrival of a response that is not a stream, relative to the time the request was sent; null for a stream. */
  readonly wholeResponseOffset_ns: number | null;
}

/** Chunks that may carry text without a token of their own: what was held back is sent at the end. */
const CHUNKS_WITHOUT_TOKEN = 2;
const RATIO_OF_CHUNKS_WITHOUT_TOKEN = 0.05;
/** Fewer chunks may arrive together by chance. */
const MIN_CHUNKS = 4;
/** No server generates tokens for one user at this pace. */
export const FASTEST_TOKEN_NS = 100_000;

/** Between chunks; null when they are too few to say anything. */
export function meanGap_ns(offsets_ns: readonly number[]): number | null {
  const chunks = offsets_ns.length;
  if (chunks < MIN_CHUNKS) return null;
  return ((offsets_ns.at(-1) ?? NaN) - (offsets_ns[0] ?? NaN)) / (chunks - 1);
}

/**
 * Why a server's count of output tokens cannot be true: it has fewer tokens than there were chunks with content, or more
 * than any server generates in the time between them. Null when it can.
 */
function usageContradiction(
  { output_tokens: output, reasoning_tokens: reasoning }: Usage,
  offsets_ns: readonly number[],
): string | null {
  const chunks = offsets_ns.length;
  if (output === null || chunks === 0) return null;
  const spare = Math.max(CHUNKS_WITHOUT_TOKEN, RATIO_OF_CHUNKS_WITHOUT_TOKEN * chunks);
  if (output + spare < chunks) return `${things(output, 'tokens')} in ${chunks} chunks`;
  // Reasoning may have come before the first chunk.
  const fewest = output - (reasoning ?? 0);
  const span_ns = (offsets_ns.at(-1) ?? NaN) - (offsets_ns[0] ?? NaN);
  const isSpread = (meanGap_ns(offsets_ns) ?? 0) >= 10 * FASTEST_TOKEN_NS;
  if (!isSpread || span_ns / (fewest - 1) >= FASTEST_TOKEN_NS || fewest < chunks) return null;
  return `${things(fewest, 'tokens')} within ${Math.round(span_ns / 1e6)} ms`;
}

/** Usage without the tokens of an output that cannot be true, and why. */
export function credibleUsage(
  usage: Usage | null,
  offsets_ns: readonly number[],
): { readonly usage: Usage | null; readonly contradiction: string | null } {
  const contradiction = usage && usageContradiction(usage, offsets_ns);
  if (usage === null || contradiction === null) return { usage, contradiction: null };
  return { usage: { ...usage, output_tokens: null, reasoning_tokens: null }, contradiction };
}

/**
 * Null when the output cannot have begun with the first chunk although it looks so: there are more chunks than tokens of
 * output, so reasoning is mixed with it.
 */
function firstOutput({ usage, offsets_ns, firstOutputChunk: chunk }: ReadResponse): number | null {
  const { output_tokens: output, reasoning_tokens: reasoning } = usage ?? NO_COUNTS;
  const isMixed =
    chunk === 0 && output !== null && reasoning !== null && reasoning > 0 && offsets_ns.length > output - reasoning;
  const offset = chunk === null || isMixed ? undefined : offsets_ns[chunk];
  if (offset === undefined) return null;
  // Chunks of one read have one time. A first output at the time of the first content means that no reasoning was sent.
  return chunk !== 0 && offset === offsets_ns[0] ? offset + 1 : offset;
}

const NO_COUNTS = { output_tokens: null, reasoning_tokens: null };

export function requestRecord(sent: SentRequest, response: ReadResponse): MeasuredRecord {
  const { usage, connection, offsets_ns } = response;
  const first = offsets_ns[0];
  const output_ns = firstOutput(response);
  const last = offsets_ns.at(-1) ?? response.wholeResponseOffset_ns;
  const input = tokens(usage?.input_tokens, sent.input_tokens);
  const output = tokens(usage?.output_tokens, response.counted_output_tokens?.all);
  return {
    index: sent.index,
    phase: sent.phase,
    stage: sent.stage ?? null,
    ...(sent.place ?? NO_CONVERSATION),
    model: sent.model ?? null,
    due_ns: sent.due_ns,
    sent_ns: sent.sent_ns,
    first_content_ns: first === undefined ? null : sent.sent_ns + first,
    first_output_ns: output_ns === null ? null : sent.sent_ns + output_ns,
    last_content_ns: last === null ? null : sent.sent_ns + last,
    end_ns: response.end_ns,
    connection_reused: connection?.reused ?? null,
    connect_ns: connection?.connect_ns ?? null,
    tcp_connect_ns: connection?.tcp_connect_ns ?? null,
    connection_retried: connection?.retried ?? null,
    outcome: outcomeOf(response.reason),
    reason: response.reason,
    http_status: response.status,
    input_tokens: input.count,
    input_tokens_source: input.source,
    output_tokens: output.count,
    output_tokens_source: output.source,
    reasoning_tokens: usage?.reasoning_tokens ?? null,
    cached_tokens: usage?.cached_tokens ?? null,
    requested_output_tokens: sent.requested_output_tokens,
    image_tokens: usage?.image_tokens ?? null,
    audio_tokens: usage?.audio_tokens ?? null,
    documents: sent.documents ?? null,
    images: sent.images ?? null,
    image_bytes: sent.image_bytes ?? null,
    audio_ns: sent.audio_ns ?? null,
    audio_bytes: sent.audio_bytes ?? null,
    request_bytes: sent.request_bytes ?? null,
    trace_id: sent.trace_id ?? null,
    chunk_offsets_ns: offsets_ns,
    counted_input_tokens: sent.input_tokens ?? null,
    counted_output_tokens: response.counted_output_tokens?.all ?? null,
    counted_reasoning_tokens: response.counted_output_tokens?.reasoning ?? null,
    ...httpPhases(connection?.trace),
  };
}

/** The server's count has priority: the server knows what its model read and wrote. */
function tokens(
  reported: number | null | undefined,
  counted: number | null | undefined,
): { readonly count: number | null; readonly source: TokenSource | null } {
  if (reported != null) return { count: reported, source: 'usage' };
  return counted == null ? { count: null, source: null } : { count: counted, source: 'tokenizer' };
}

/**
 * The output tokens of a response whose count the server did not report, or that is to be checked; null without a
 * tokenizer.
 */
export function countedTokens(
  context: ResponseContext,
  text: ResponseText | null,
  usage: Usage | null,
): CountedOutput | null {
  if (text === null || context.countTokens === undefined || !context.endpoint.generates) return null;
  if (usage?.output_tokens != null && context.checkUsage !== true) return null;
  const reasoning = context.countTokens(text.reasoning);
  return { all: reasoning + context.countTokens(text.output), reasoning };
}
