import type { Clock, Unit } from '../run/statistic.ts';
import { sentTokens } from './request-figures.ts';
import type { HttpTimes, RequestFigures } from './request-figures.ts';

/** Which way is better; `none` when the measure describes the load and is not judged. */
export type Direction = 'lower' | 'higher' | 'none';

interface MeasureFacts {
  readonly measure: string;
  readonly unit: Unit;
  /** The one definition; results that carry another name are never compared with it. */
  readonly definition: string;
  /** The definition in words and symbols, for people. */
  readonly formula: string;
  readonly direction: Direction;
}

/** A measure with one value per request, summarized as a distribution. */
export interface PerRequestMeasure extends MeasureFacts {
  readonly clock: Clock;
  /** The request's value; null when the request has none (missing is not zero). */
  readonly value: (figures: RequestFigures) => number | null;
}

/** A measure with as many values per request as there are gaps between its chunks. */
export interface PerGapMeasure extends MeasureFacts {
  readonly clock: Clock;
  readonly value: null;
}

/** A measure with one value per conversation. */
export interface PerConversationMeasure extends MeasureFacts {
  readonly clock: Clock;
  readonly value: null;
}

/** A measure that is summarized as a distribution. */
export type DistributionMeasure = PerRequestMeasure | PerGapMeasure | PerConversationMeasure;

/** A measure that is one number for a whole run. */
export type ScalarMeasure = MeasureFacts;

const NS_PER_SECOND = 1e9;

const seconds = (from_ns: number | null, to_ns: number | null): number | null =>
  from_ns === null || to_ns === null ? null : (to_ns - from_ns) / NS_PER_SECOND;

type StreamedTimes = Pick<
  RequestFigures,
  'first_content_ns' | 'first_output_ns' | 'last_content_ns' | 'output_tokens' | 'reasoning_tokens'
>;

/**
 * (last chunk with content − first) ÷ (output tokens that were sent − 1) in seconds; null with fewer than two tokens or no
 * count.
 */
export function interTokenLatencySeconds(request: StreamedTimes): number | null {
  const { first_content_ns: first, last_content_ns: last } = request;
  const tokens = sentTokens(request);
  if (first === null || last === null || tokens === null || tokens < 2) return null;
  return (last - first) / NS_PER_SECOND / (tokens - 1);
}

/** Null when a side is not known or there is nothing to divide by. */
function over(amount: number | null, divisor: number | null): number | null {
  return amount === null || divisor === null || divisor <= 0 ? null : amount / divisor;
}

function latency(
  measure: string,
  definition: string,
  formula: string,
  clock: Clock,
  value: PerRequestMeasure['value'],
): PerRequestMeasure {
  return { measure, unit: 'seconds', definition, formula, direction: 'lower', clock, value };
}

/** A count of tokens: it describes the load. */
function tokens(
  measure: string,
  definition: string,
  formula: string,
  value: PerRequestMeasure['value'],
): PerRequestMeasure {
  return { measure, unit: 'tokens', definition, formula, direction: 'none', clock: 'sent', value };
}

function tokenRate(
  measure: string,
  definition: string,
  formula: string,
  value: PerRequestMeasure['value'],
): PerRequestMeasure {
  return { measure, unit: 'tokens_per_second', definition, formula, direction: 'higher', clock: 'sent', value };
}

/** A part of the time of a request below its meaning, as AIPerf and k6 part it. */
function httpPhase(measure: string, formula: string, field: keyof HttpTimes): PerRequestMeasure {
  return latency(measure, field.replace(/_ns$/, ''), formula, 'sent', (r) => seconds(0, r[field]));
}

/** There only when a run was traced (`--export-http-trace`). Names and meanings are AIPerf's. */
export const HTTP_MEASURES: readonly PerRequestMeasure[] = [
  httpPhase(
    'http_req_blocked',
    'from the hand-over to the transport until a connection started to open, or sending started on an open one',
    'http_blocked_ns',
  ),
  httpPhase('http_req_dns_lookup', 'time of the DNS lookup, for requests that made one', 'http_dns_lookup_ns'),
  httpPhase(
    'http_req_connecting',
    'time to open the connection, including TLS and excluding the DNS lookup, for requests that opened one',
    'http_connecting_ns',
  ),
  httpPhase('http_req_tls_handshaking', 'the part of http_req_connecting after TCP', 'http_tls_handshaking_ns'),
  httpPhase('http_req_sending', 'from the first to the last byte of the request', 'http_sending_ns'),
  httpPhase(
    'http_req_waiting',
    'from the last byte of the request to the first byte of the response body',
    'http_waiting_ns',
  ),
  httpPhase('http_req_receiving', 'from the first to the last byte of the response body', 'http_receiving_ns'),
];

/** The gaps between the chunks of a stream. */
export const INTER_CHUNK_LATENCY: PerGapMeasure = {
  measure: 'inter_chunk_latency',
  unit: 'seconds',
  definition: 'gap_between_content_chunks',
  formula: 'time between two consecutive chunks with content, one value per gap',
  direction: 'lower',
  clock: 'sent',
  value: null,
};

/**
 * Every measure that has a value per request, timed on the monotonic clock at the arrival of bytes. Where AIPerf has the
 * measure, its meaning is the same (`inter_token_latency` is what vLLM and SGLang call TPOT).
 */
export const DISTRIBUTION_MEASURES: readonly DistributionMeasure[] = [
  latency(
    'time_to_first_token',
    'sent_to_first_content_chunk',
    'first chunk with content − request sent (reasoning counts; includes opening a connection)',
    'sent',
    (r) => seconds(r.sent_ns, r.first_content_ns),
  ),
  latency(
    'time_to_first_token',
    'due_to_first_content_chunk',
    'first chunk with content − request due; includes the wait for a free slot',
    'due',
    (r) => seconds(r.due_ns, r.first_content_ns),
  ),
  latency(
    'time_to_first_output_token',
    'sent_to_first_chunk_with_output',
    'first chunk with content that is not reasoning − request sent',
    'sent',
    (r) => seconds(r.sent_ns, r.first_output_ns),
  ),
  latency(
    'time_to_second_token',
    'first_to_second_content_chunk',
    'second chunk with content − first chunk with content',
    'sent',
    (r) => seconds(r.first_content_ns, r.second_content_ns),
  ),
  latency(
    'inter_token_latency',
    'per_request_mean_from_usage',
    '(last chunk with content − first) ÷ (output tokens − 1), one value per request; tokens from usage, without reasoning that was not sent',
    'sent',
    interTokenLatencySeconds,
  ),
  INTER_CHUNK_LATENCY,
  latency('request_latency', 'sent_to_last_content_chunk', 'last chunk with content − request sent', 'sent', (r) =>
    seconds(r.sent_ns, r.last_content_ns),
  ),
  latency('request_latency', 'due_to_last_content_chunk', 'last chunk with content − request due', 'due', (r) =>
    seconds(r.due_ns, r.last_content_ns),
  ),
  latency(
    'decode_duration',
    'first_to_last_content_chunk',
    'last chunk with content − first chunk with content',
    'sent',
    (r) => seconds(r.first_content_ns, r.last_content_ns),
  ),
  latency('schedule_delay', 'due_to_sent', 'request sent − request due', 'due', (r) => seconds(r.due_ns, r.sent_ns)),
  latency(
    'connect_time',
    'connection_opened_for_request',
    'time to open the connection, for requests that opened one; included in the latencies',
    'sent',
    (r) => seconds(0, r.connect_ns),
  ),
  tokens(
    'input_sequence_length',
    'usage_prompt_tokens',
    'prompt tokens as counted by the server',
    (r) => r.input_tokens,
  ),
  tokens(
    'output_sequence_length',
    'usage_completion_tokens',
    'output tokens as counted by the server, including reasoning',
    (r) => r.output_tokens,
  ),
  tokens(
    'output_token_count',
    'usage_completion_minus_reasoning_tokens',
    'output tokens without reasoning, for requests whose usage reports both',
    (r) => (r.output_tokens === null || r.reasoning_tokens === null ? null : r.output_tokens - r.reasoning_tokens),
  ),
  tokens(
    'reasoning_token_count',
    'usage_reasoning_tokens',
    'reasoning tokens as counted by the server',
    (r) => r.reasoning_tokens,
  ),
  tokens(
    'cached_input_tokens',
    'usage_cached_prompt_tokens',
    'prompt tokens read from a cache, as counted by the server',
    (r) => r.cached_tokens,
  ),
  tokens(
    'image_token_count',
    'usage_prompt_image_tokens',
    'prompt tokens of images, as counted by the server',
    (r) => r.image_tokens,
  ),
  tokens(
    'audio_token_count',
    'usage_prompt_audio_tokens',
    'prompt tokens of audio, as counted by the server',
    (r) => r.audio_tokens,
  ),
  {
    measure: 'image_count',
    unit: 'images',
    definition: 'images_in_request',
    formula: 'images in the request, those of earlier turns included',
    direction: 'none',
    clock: 'sent',
    value: (r) => r.images,
  },
  {
    measure: 'image_size',
    unit: 'bytes',
    definition: 'image_bytes_in_request',
    formula: 'bytes of all images in the request, before they are encoded as text; null where an image is an address',
    direction: 'none',
    clock: 'sent',
    value: (r) => r.image_bytes,
  },
  {
    measure: 'audio_duration',
    unit: 'seconds',
    definition: 'audio_seconds_in_request',
    formula: 'length of all audio in the request, that of earlier turns included; null where it is no WAV file',
    direction: 'none',
    clock: 'sent',
    value: (r) => seconds(0, r.audio_ns),
  },
  {
    measure: 'audio_size',
    unit: 'bytes',
    definition: 'audio_bytes_in_request',
    formula: 'bytes of all audio in the request, before it is encoded as text; null where it is an address',
    direction: 'none',
    clock: 'sent',
    value: (r) => r.audio_bytes,
  },
  {
    measure: 'request_size',
    unit: 'bytes',
    definition: 'request_body_bytes',
    formula: 'bytes of the request body',
    direction: 'none',
    clock: 'sent',
    value: (r) => r.request_bytes,
  },
  {
    measure: 'output_length_difference_ratio',
    unit: 'ratio',
    definition: 'output_minus_requested_over_requested_tokens',
    formula: '(output tokens − requested output tokens) ÷ requested output tokens, per request',
    direction: 'none',
    clock: 'sent',
    value: ({ output_tokens: output, requested_output_tokens: requested }) =>
      output === null ? null : over(requested === null ? null : output - requested, requested),
  },
  tokens(
    'tokens_per_chunk',
    'output_tokens_over_content_chunks',
    'output tokens ÷ chunks with content, per request; above 1, chunks contain several tokens',
    (r) => over(sentTokens(r), r.content_chunks),
  ),
  tokenRate(
    'prefill_throughput_per_user',
    'input_tokens_over_time_to_first_token',
    'input tokens ÷ time to first token, per request',
    (r) => over(r.input_tokens, seconds(r.sent_ns, r.first_content_ns)),
  ),
  tokenRate(
    'output_token_throughput_per_user',
    'inverse_inter_token_latency',
    '1 ÷ inter token latency, per request',
    (r) => over(1, interTokenLatencySeconds(r)),
  ),
  tokenRate(
    'e2e_output_token_throughput',
    'output_tokens_over_request_latency',
    'output tokens ÷ request latency, per request',
    (r) => over(r.output_tokens, seconds(r.sent_ns, r.last_content_ns)),
  ),
];
