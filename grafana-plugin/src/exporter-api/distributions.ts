import type { DistributionName } from '../../../core/api/run-data.ts';

/** The measures whose distributions can be chosen. */
export const DISTRIBUTIONS = [
  'time_to_first_token',
  'time_to_second_token',
  'inter_token_latency',
  'inter_chunk_latency',
  'request_latency',
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
] as const satisfies readonly DistributionName[];
