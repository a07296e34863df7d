import { expect, test } from '@jest/globals';

import { systemsOfNames } from './detect.ts';

test.each([
  ['vLLM', ['vllm:num_requests_running', 'python_info'], ['vllm']],
  ['vLLM inside Ray', ['ray_vllm:num_requests_running', 'ray_serve_num_deployment_http_error_requests'], ['vllm']],
  ['SGLang inside a Ray that writes no colons', ['ray_sglang_token_usage'], ['sglang']],
  ['Ray without an engine', ['ray_node_cpu_utilization'], []],
  ['NIM', ['num_requests_running', 'num_request_max', 'gpu_cache_usage_perc'], ['nim']],
  ['a name of NIM that others may have', ['num_requests_running'], []],
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
