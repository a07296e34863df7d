import { expect, test } from '@jest/globals';

import { nearestNames } from './nearest-names.ts';

const NAMES = [
  'vllm:time_to_first_token_seconds',
  'vllm:num_requests_running',
  'vllm:num_requests_waiting',
  'nv_inference_queue_duration_us',
];

test.each([
  ['a slip of the finger', 'vllm:num_requests_runing', 'vllm:num_requests_running'],
  ['the wrong prefix', 'num_requests_waiting', 'vllm:num_requests_waiting'],
  ['another unit', 'nv_inference_queue_duration_seconds', 'nv_inference_queue_duration_us'],
  ['an abbreviation', 'vllm:ttft', 'vllm:time_to_first_token_seconds'],
  ['capitals', 'VLLM:NUM_REQUESTS_WAITING', 'vllm:num_requests_waiting'],
])('%s', (_case, wanted, nearest) => {
  expect(nearestNames(wanted, NAMES, 3)[0]).toBe(nearest);
});

test('nothing is near to what has nothing in common', () => {
  expect(nearestNames('qzx', NAMES, 3)).toEqual([]);
  expect(nearestNames('', NAMES, 3)).toEqual([]);
});

test('at most as many as requested, each once, best first', () => {
  expect(nearestNames('vllm:num_requests', [...NAMES, ...NAMES], 2)).toEqual([
    'vllm:num_requests_running',
    'vllm:num_requests_waiting',
  ]);
});

test('a slip in a short name comes before names that merely contain it', () => {
  expect(nearestNames('islx', ['isl-stddev', 'isl', 'osl'], 3)[0]).toBe('isl');
  expect(nearestNames('modle', ['tokenizer', 'model', 'slo'], 1)).toEqual(['model']);
});
