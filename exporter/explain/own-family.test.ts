import { expect, test } from '@jest/globals';
import { ownMetric } from './own-family.ts';

test.each([
  ['llmbench_time_to_first_token_seconds', 'sent_to_first_content_chunk'],
  ['llmbench_time_to_first_token_seconds_bucket', 'sent_to_first_content_chunk'],
  ['llmbench_time_to_first_token_from_due_seconds', 'due_to_first_content_chunk'],
  ['llmbench_result_request_latency_seconds', 'sent_to_last_content_chunk'],
  ['TTFT', 'sent_to_first_content_chunk'],
  ['tpot', 'per_request_mean_from_usage'],
  ['output_token_throughput', 'ok_output_tokens_over_window'],
  ['goodput', 'good_requests_over_window'],
  ['llmbench_result_goodput_requests_per_second', 'good_requests_over_window'],
  ['good_request_ratio', 'good_over_ok_error_timeout'],
  ['error_ratio', 'error_and_timeout_over_ok_error_timeout'],
])('%s is defined as %s', (name, definition) => {
  expect(ownMetric(name)?.definition).toBe(definition);
});

test.each(['vllm:nothing', 'up', 'llmbench_', 'constructor'])('%s is no measure of ours', (name) => {
  expect(ownMetric(name)).toBeNull();
});
