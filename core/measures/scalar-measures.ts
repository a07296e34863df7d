import type { SearchedLoad } from '../run/capacity.ts';
import type { MeasureResult, ScalarResult } from '../run/result.ts';
import type { ScalarMeasure } from './measures.ts';

/** Every measure that is one number for the run. Where AIPerf has it, its meaning is the same. */
export const SCALAR_MEASURES = {
  request_throughput: {
    measure: 'request_throughput',
    unit: 'requests_per_second',
    definition: 'ok_requests_over_window',
    formula: 'ok requests ÷ (last response − first request)',
    direction: 'higher',
  },
  output_token_throughput: {
    measure: 'output_token_throughput',
    unit: 'tokens_per_second',
    definition: 'ok_output_tokens_over_window',
    formula: 'output tokens of ok requests ÷ (last response − first request)',
    direction: 'higher',
  },
  input_token_throughput: {
    measure: 'input_token_throughput',
    unit: 'tokens_per_second',
    definition: 'ok_input_tokens_over_window',
    formula: 'input tokens of ok requests ÷ (last response − first request)',
    direction: 'higher',
  },
  total_token_throughput: {
    measure: 'total_token_throughput',
    unit: 'tokens_per_second',
    definition: 'ok_input_and_output_tokens_over_window',
    formula: 'input and output tokens of ok requests ÷ (last response − first request)',
    direction: 'higher',
  },
  document_throughput: {
    measure: 'document_throughput',
    unit: 'documents_per_second',
    definition: 'ok_documents_over_window',
    formula: 'texts that ok requests embedded, scored or ranked ÷ (last response − first request)',
    direction: 'higher',
  },
  image_throughput: {
    measure: 'image_throughput',
    unit: 'images_per_second',
    definition: 'ok_images_over_window',
    formula: 'images in ok requests ÷ (last response − first request)',
    direction: 'higher',
  },
  steady_request_throughput: {
    measure: 'steady_request_throughput',
    unit: 'requests_per_second',
    definition: 'ok_requests_ended_at_full_load_over_time_at_full_load',
    formula: 'ok requests that ended while the load was full ÷ that time',
    direction: 'higher',
  },
  steady_output_token_throughput: {
    measure: 'steady_output_token_throughput',
    unit: 'tokens_per_second',
    definition: 'output_tokens_at_full_load_over_time_at_full_load',
    formula: 'output tokens of ok requests spread over their chunks, counted while the load was full ÷ that time',
    direction: 'higher',
  },
  error_ratio: {
    measure: 'error_ratio',
    unit: 'ratio',
    definition: 'error_and_timeout_over_ok_error_timeout',
    formula: '(error + timeout) ÷ (ok + error + timeout)',
    direction: 'lower',
  },
  cached_input_ratio: {
    measure: 'cached_input_ratio',
    unit: 'ratio',
    definition: 'usage_cached_tokens_over_prompt_tokens',
    formula: 'cached prompt tokens ÷ prompt tokens, over ok requests whose usage reports both',
    direction: 'none',
  },
  achieved_output_ratio: {
    measure: 'achieved_output_ratio',
    unit: 'ratio',
    definition: 'output_tokens_over_requested_output_tokens',
    formula: 'output tokens ÷ requested output tokens (max_tokens), over ok requests',
    direction: 'none',
  },
  output_length_mismatch_count: {
    measure: 'output_length_mismatch_count',
    unit: 'requests',
    definition: 'ok_requests_off_by_more_than_5_percent_or_50_tokens',
    formula:
      'ok requests whose output tokens differ from the requested number (max_tokens) by more than 5 % or by more than 50; ' +
      'null if no request reports both',
    direction: 'none',
  },
  stall_ratio: {
    measure: 'stall_ratio',
    unit: 'ratio',
    definition: 'gaps_over_5_times_median_gap_over_gaps',
    formula:
      'gaps between consecutive chunks longer than 5 × the median gap of the run ÷ all gaps, over ok requests; ' +
      'null if the median is 0, because several chunks then share a time stamp',
    direction: 'lower',
  },
  reused_connection_ratio: {
    measure: 'reused_connection_ratio',
    unit: 'ratio',
    definition: 'requests_on_open_connections_over_requests',
    formula: 'requests sent over an already open connection ÷ requests for which this is known',
    direction: 'none',
  },
  effective_concurrency: {
    measure: 'effective_concurrency',
    unit: 'requests',
    definition: 'request_time_over_window',
    formula: 'sum over requests of (end − sent) ÷ (last response − first request)',
    direction: 'none',
  },
} as const satisfies Record<string, ScalarMeasure>;

/** What a search for the capacity (`run --find`) measures: an interval, by the load that it varies. */
export const CAPACITY_MEASURES = {
  concurrency: {
    measure: 'concurrency_capacity',
    unit: 'requests',
    definition: 'largest_concurrency_at_which_all_objectives_hold',
    formula: 'largest number of requests in flight at which every objective of the search holds',
    direction: 'higher',
  },
  request_rate: {
    measure: 'request_rate_capacity',
    unit: 'requests_per_second',
    definition: 'largest_request_rate_at_which_all_objectives_hold',
    formula: 'largest rate of arrivals at which every objective of the search holds',
    direction: 'higher',
  },
} as const satisfies Record<SearchedLoad, ScalarMeasure>;

/** A value of a measure that is one number: of the client, over the ok requests, unless `others` state otherwise. */
export function scalarResult(
  { measure, unit, definition }: ScalarMeasure,
  value: number | null,
  others: Partial<Pick<ScalarResult, 'definition' | 'origin' | 'population'>> = {},
): ScalarResult {
  const identity = { measure, unit, definition, origin: 'client', population: 'ok', clock: 'sent' } as const;
  return { ...identity, ...others, kind: 'scalar', value };
}

/** Null when a side is not known or there is nothing to divide by. */
export function quotient(amount: number | null, divisor: number | null): number | null {
  return amount === null || divisor === null || divisor <= 0 ? null : amount / divisor;
}

/** A throughput under its one definition: with another tool's, the tokens are not those of the window. Null: not known. */
export function throughputOf(
  measures: readonly MeasureResult[],
  name: 'output_token_throughput' | 'total_token_throughput',
): number | null {
  const { measure, definition } = SCALAR_MEASURES[name];
  const found = measures.find((each) => each.measure === measure && each.definition === definition);
  return found?.kind === 'scalar' ? found.value : null;
}
