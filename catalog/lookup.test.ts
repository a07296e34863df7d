import { describe, expect, test } from '@jest/globals';
import { findFamilies, nativeName, systemsOfNames } from './lookup.ts';

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

test.each([
  ['vLLM', ['vllm:num_requests_running', 'python_info'], ['vllm']],
  ['vLLM inside Ray', ['ray_vllm:num_requests_running', 'ray_serve_num_deployment_http_error_requests'], ['vllm']],
  ['SGLang inside a Ray that writes no colons', ['ray_sglang_token_usage'], ['sglang']],
  ['Ray without an engine', ['ray_node_cpu_utilization'], []],
  ['NIM', ['num_requests_running', 'num_request_max', 'gpu_cache_usage_perc'], ['nim']],
  ['a name of NIM that others may have', ['num_requests_running'], []],
  [
    'TensorRT-LLM before 1.3.0, which has no prefix',
    ['request_success_total', 'e2e_request_latency_seconds_bucket', 'request_queue_time_seconds_bucket'],
    ['trtllm'],
  ],
  ['TGI', ['tgi_request_duration_count', 'tgi_queue_size'], ['tgi']],
  ['SGLang with either spelling', ['sglang_token_usage'], ['sglang']],
  [
    "a Dynamo worker with the engine's and LMCache's families",
    ['lmcache:time_to_store', 'vllm:num_requests_running', 'dynamo_component_requests_total'],
    ['dynamo', 'vllm', 'lmcache'],
  ],
  [
    "Dynamo's frontend with its router",
    ['dynamo_component_router_requests_total', 'dynamo_frontend_requests_total'],
    ['dynamo', 'dynamo-router'],
  ],
  [
    "Triton's vLLM backend, not vLLM",
    ['vllm:e2e_request_latency_seconds', 'nv_inference_count'],
    ['triton', 'triton-vllm-backend'],
  ],
  ['the proxy of TensorRT-LLM', ['ctx_total_requests_total', 'gen_total_requests_total'], ['trtllm-disagg']],
  ['one of its names alone, which others may have', ['ctx_total_requests_total'], []],
  ['keys of JSON, which are no page', ['iterLatencyMS'], []],
  ['the router of llm-d', ['llm_d_epp_request_total', 'controller_runtime_active_workers'], ['llm-d-epp']],
  ['the router of llm-d before 0.9', ['inference_extension_scheduler_e2e_duration_seconds'], ['llm-d-epp']],
  ["the router of vLLM's production stack", ['vllm:num_requests_running', 'vllm:healthy_pods_total'], ['vllm-router']],
  ['NIXL', ['exposer_scrapes_total', 'agent_tx_bytes_total', 'agent_xfer_time_us'], ['nixl']],
  ['the gateway of AIBrix', ['gateway_request_total', 'gateway_model_in_flight_requests'], ['aibrix-gateway']],
  ['GPU telemetry', ['DCGM_FI_DEV_GPU_UTIL'], ['dcgm']],
  ['GPUs of AMD', ['gpu_nodes_total', 'gpu_package_power'], ['amd-gpu']],
  ['a stranger', ['go_goroutines', 'prometheus_build_info'], []],
  ['nothing', [], []],
])('%s', (_case, names, expected) => {
  expect(systemsOfNames(names)).toEqual(expected);
});
