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
