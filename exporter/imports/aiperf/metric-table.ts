import type { Clock, Unit } from '../../../core/run/statistic.ts';

/** Which measure a metric of AIPerf is. */
export interface AiperfMeasure {
  readonly measure: string;
  /** With tokens of the server's usage; AIPerf's own count changes it. */
  readonly definition: string;
  /** AIPerf counts the tokens in it with its tokenizer, unless configured to use the server's. */
  readonly ownTokens: boolean;
  readonly clock: Clock;
  /** Whether the failed requests are among the values, as infinite: AIPerf's percentiles are then values themselves. */
  readonly withFailed?: boolean;
  /** Of what there is a value, if not of each ok request: of each gap between chunks, or of failed requests as well. */
  readonly valuesOf?: 'gaps' | 'all_requests';
}

const is = (measure: string, definition: string, clock: Clock = 'sent'): AiperfMeasure => ({
  measure,
  definition,
  ownTokens: false,
  clock,
});
const counting = (measure: string, definition: string): AiperfMeasure => ({
  ...is(measure, definition),
  ownTokens: true,
});

const withFailed = (measure: AiperfMeasure): AiperfMeasure => ({ ...measure, withFailed: true });

/** AIPerf's metrics with a value per request that have the definition of one of our measures. */
export const DISTRIBUTIONS: Readonly<Record<string, AiperfMeasure>> = {
  request_latency: is('request_latency', 'sent_to_last_content_chunk'),
  time_to_first_token: is('time_to_first_token', 'sent_to_first_content_chunk'),
  time_to_second_token: is('time_to_second_token', 'first_to_second_content_chunk'),
  inter_token_latency: counting('inter_token_latency', 'per_request_mean_from_usage'),
  inter_chunk_latency: { ...is('inter_chunk_latency', 'gap_between_content_chunks'), valuesOf: 'gaps' },
  decode_duration: is('decode_duration', 'first_to_last_content_chunk'),
  credit_to_start_latency: { ...is('schedule_delay', 'due_to_sent', 'due'), valuesOf: 'all_requests' },
  input_sequence_length: counting('input_sequence_length', 'usage_prompt_tokens'),
  output_sequence_length: counting('output_sequence_length', 'usage_completion_tokens'),
  output_token_count: counting('output_token_count', 'usage_completion_minus_reasoning_tokens'),
  reasoning_token_count: counting('reasoning_token_count', 'usage_reasoning_tokens'),
  output_token_throughput_per_user: counting('output_token_throughput_per_user', 'inverse_inter_token_latency'),
  prefill_throughput_per_user: counting('prefill_throughput_per_user', 'input_tokens_over_time_to_first_token'),
  e2e_output_token_throughput: counting('e2e_output_token_throughput', 'output_tokens_over_request_latency'),
  adj_request_latency: withFailed(is('request_latency', 'sent_to_last_content_chunk')),
  adj_time_to_first_token: withFailed(is('time_to_first_token', 'sent_to_first_content_chunk')),
  adj_inter_token_latency: withFailed(counting('inter_token_latency', 'per_request_mean_from_usage')),
  // After AIPerf's own counts, so that without records the server's is used.
  usage_prompt_tokens: is('input_sequence_length', 'usage_prompt_tokens'),
  usage_completion_tokens: is('output_sequence_length', 'usage_completion_tokens'),
  usage_reasoning_tokens: is('reasoning_token_count', 'usage_reasoning_tokens'),
};

/** AIPerf's metrics of the whole run that have the definition of one of our measures. */
export const SCALARS: Readonly<Record<string, AiperfMeasure>> = {
  request_throughput: is('request_throughput', 'ok_requests_over_window'),
  output_token_throughput: counting('output_token_throughput', 'ok_output_tokens_over_window'),
  input_token_throughput: counting('input_token_throughput', 'ok_input_tokens_over_window'),
  total_token_throughput: counting('total_token_throughput', 'ok_input_and_output_tokens_over_window'),
};

/**
 * Metrics that are known and not taken: counts and sums reported elsewhere, and what records or server metrics report
 * better.
 */
const PASSED_OVER: readonly RegExp[] = [
  /^(http_req|stream|replay|network|credit|spec_decode|usage|total|overall|effective|active|adj|tokens_in_flight|osl_mismatch)(_|$)/,
  /^(nvidia|amd|gpu|energy|average_gpu|output_tps|output_tokens_per_joule|performance_per|goodput_per)(_|$)/,
  /^(min_request|max_response)_timestamp$/,
  /^(completed_)?request_count$/,
  /^(error_request_count|request_error_rate|error_isl|benchmark_duration)$/,
  /^(time_to_first_output_token|network_rtt|thinking_efficiency|context_overflow_count)$/,
];

export function isPassedOver(tag: string): boolean {
  return PASSED_OVER.some((pattern) => pattern.test(tag));
}

/** AIPerf's units: what to multiply with, and the base unit; null when there is none of ours. */
export function baseUnit(unit: string): { readonly unit: Unit; readonly scale: number } | null {
  return Object.hasOwn(UNITS, unit) ? (UNITS[unit] ?? null) : null;
}

const UNITS: Readonly<Record<string, { readonly unit: Unit; readonly scale: number }>> = {
  ns: { unit: 'seconds', scale: 1e-9 },
  us: { unit: 'seconds', scale: 1e-6 },
  ms: { unit: 'seconds', scale: 1e-3 },
  s: { unit: 'seconds', scale: 1 },
  sec: { unit: 'seconds', scale: 1 },
  tokens: { unit: 'tokens', scale: 1 },
  requests: { unit: 'requests', scale: 1 },
  ratio: { unit: 'ratio', scale: 1 },
  '%': { unit: 'ratio', scale: 0.01 },
  'requests/sec': { unit: 'requests_per_second', scale: 1 },
  'tokens/sec': { unit: 'tokens_per_second', scale: 1 },
  'tokens/sec/user': { unit: 'tokens_per_second', scale: 1 },
};
