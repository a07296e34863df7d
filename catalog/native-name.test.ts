import { expect, test } from '@jest/globals';
import { nativeName } from './native-name.ts';

test.each([
  ['ray_vllm:num_requests_running', 'vllm:num_requests_running'],
  ['ray_vllm_num_requests_running', 'vllm:num_requests_running'],
  ['ray_sglang_token_usage', 'sglang:token_usage'],
  ['sglang_token_usage', 'sglang:token_usage'],
  ['vllm:num_requests_running', 'vllm:num_requests_running'],
  ['ray_node_mem_used', 'ray_node_mem_used'],
])('%s is %s', (name, native) => {
  expect(nativeName(name)).toBe(native);
});
