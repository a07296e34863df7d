import { describe, expect, test } from '@jest/globals';

import { findFamilies } from './lookup.ts';

const named = (name: string): string[] =>
  findFamilies(name).map(({ catalog, family }) => `${catalog.system} ${family.name}`);

describe('a family is found by', () => {
  test.each([
    ['its name', 'sglang:num_running_reqs', 'sglang sglang:num_running_reqs'],
    ['its name with underscores', 'sglang_num_running_reqs', 'sglang sglang:num_running_reqs'],
    ['a counter without _total', 'sglang:num_requests', 'sglang sglang:num_requests_total'],
    [
      'a counter with the _total that it lacks',
      'nv_inference_request_success_total',
      'triton nv_inference_request_success',
    ],
    ['a bucket', 'dynamo_frontend_request_duration_seconds_bucket', 'dynamo dynamo_frontend_request_duration_seconds'],
    ['a sum in the other spelling', 'lmcache_time_to_retrieve_sum', 'lmcache lmcache:time_to_retrieve'],
    ['the count of a summary', 'nv_inference_queue_summary_us_count', 'triton nv_inference_queue_summary_us'],
    ['the creation time of a counter', 'vllm:request_success_created', 'vllm vllm:request_success_total'],
    ['the sum of a histogram named _total', 'vllm:iteration_tokens_total_sum', 'vllm vllm:iteration_tokens_total'],
    ['an info metric without _info', 'trtllm_model_config', 'trtllm trtllm_model_config_info'],
  ])('%s', (_case, given, found) => {
    expect(named(given)).toEqual([found]);
  });
});

test('a family that two systems expose is found in both', () => {
  expect(named('vllm:time_to_first_token_seconds')).toEqual([
    'vllm vllm:time_to_first_token_seconds',
    'triton-vllm-backend vllm:time_to_first_token_seconds',
  ]);
});

test('a suffix that the type does not have makes another name', () => {
  expect(named('sglang:num_running_reqs_bucket')).toEqual([]);
  expect(named('vllm:prompt_tokens_total_bucket')).toEqual([]);
  expect(named('vllm:nosuch')).toEqual([]);
  expect(named('')).toEqual([]);
  expect(named('constructor')).toEqual([]);
});
