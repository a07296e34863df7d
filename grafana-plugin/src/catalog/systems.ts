/** A kind of server and the families that show its presence and state. Names are those of the catalog. */
export interface ServerSystem {
  id: string;
  title: string;
  /** Its workers are engines with metrics pages of their own, which are listed under it. */
  hasWorkers?: true;
  /** A family that every such server has. */
  presence: string;
  /** Gauges, summed over the series of a server. */
  running?: string;
  waiting?: string;
  /** A gauge from 0 to 1; the maximum over the series. */
  kvCache?: string;
  /** A counter. */
  outputTokens?: string;
  /** A counter. */
  requests?: string;
}

export const SYSTEMS: readonly ServerSystem[] = [
  {
    id: 'vllm',
    title: 'vLLM',
    presence: 'vllm:num_requests_running',
    running: 'vllm:num_requests_running',
    waiting: 'vllm:num_requests_waiting',
    kvCache: 'vllm:kv_cache_usage_perc',
    outputTokens: 'vllm:generation_tokens_total',
    requests: 'vllm:request_success_total',
  },
  {
    id: 'sglang',
    title: 'SGLang',
    presence: 'sglang:num_running_reqs',
    running: 'sglang:num_running_reqs',
    waiting: 'sglang:num_queue_reqs',
    kvCache: 'sglang:token_usage',
    outputTokens: 'sglang:generation_tokens_total',
    requests: 'sglang:num_requests_total',
  },
  {
    id: 'trtllm',
    title: 'TensorRT-LLM',
    presence: 'trtllm_num_requests_running',
    running: 'trtllm_num_requests_running',
    waiting: 'trtllm_num_requests_waiting',
    kvCache: 'trtllm_kv_cache_utilization',
    outputTokens: 'trtllm_generation_tokens_total',
    requests: 'trtllm_request_success_total',
  },
  {
    id: 'dynamo',
    title: 'Dynamo',
    hasWorkers: true,
    presence: 'dynamo_frontend_requests_total',
    running: 'dynamo_frontend_active_requests',
    waiting: 'dynamo_frontend_router_queue_pending_requests',
    kvCache: 'dynamo_component_gpu_cache_usage_percent',
    outputTokens: 'dynamo_frontend_output_tokens_total',
    requests: 'dynamo_frontend_requests_total',
  },
  {
    id: 'triton',
    title: 'Triton',
    presence: 'nv_inference_request_success',
    waiting: 'nv_inference_pending_request_count',
    requests: 'nv_inference_request_success',
  },
  { id: 'kvbm', title: 'KVBM', hasWorkers: true, presence: 'kvbm_offload_blocks_d2h' },
];

export const SIGNAL_IDS = ['running', 'waiting', 'kvCache', 'outputTokens', 'requests'] as const;
export type SignalId = (typeof SIGNAL_IDS)[number];
