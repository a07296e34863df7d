import type { PageEntries } from '../metrics/page-families.ts';

/** The counters of Triton 2.51.0, and those that a GPU and the backends of the simulated models add. */
const COUNTERS: PageEntries = [
  ['nv_inference_request_success', 'Number of successful inference requests, all batch sizes'],
  ['nv_inference_request_failure', 'Number of failed inference requests, all batch sizes'],
  ['nv_inference_count', 'Number of inferences performed (does not include cached requests)'],
  ['nv_inference_exec_count', 'Number of model executions performed (does not include cached requests)'],
  [
    'nv_inference_request_duration_us',
    'Cumulative inference request duration in microseconds (includes cached requests)',
  ],
  [
    'nv_inference_queue_duration_us',
    'Cumulative inference queuing duration in microseconds (includes cached requests)',
  ],
  [
    'nv_inference_compute_input_duration_us',
    'Cumulative compute input duration in microseconds (does not include cached requests)',
  ],
  [
    'nv_inference_compute_infer_duration_us',
    'Cumulative compute inference duration in microseconds (does not include cached requests)',
  ],
  [
    'nv_inference_compute_output_duration_us',
    'Cumulative inference compute output duration in microseconds (does not include cached requests)',
  ],
  ['nv_cache_num_hits_per_model', 'Number of cache hits per model'],
  ['nv_cache_hit_duration_per_model', 'Total cache hit duration per model, in microseconds'],
  ['nv_cache_num_misses_per_model', 'Number of cache misses per model'],
  ['nv_cache_miss_duration_per_model', 'Total cache miss (insert+lookup) duration per model, in microseconds'],
  ['nv_energy_consumption', 'GPU energy consumption in joules since the Triton Server started'],
  ['nv_trt_llm_disaggregated_serving_metrics', 'TRT LLM disaggregated serving metrics'],
  ['vllm:prompt_tokens_total', 'Number of prefill tokens processed.'],
  ['vllm:generation_tokens_total', 'Number of generation tokens processed.'],
];

const GAUGES: PageEntries = [
  ['nv_inference_pending_request_count', 'Instantaneous number of pending requests awaiting execution per-model.'],
  ['nv_pinned_memory_pool_total_bytes', 'Pinned memory pool total memory size, in bytes'],
  ['nv_pinned_memory_pool_used_bytes', 'Pinned memory pool used memory size, in bytes'],
  ['nv_gpu_utilization', 'GPU utilization rate [0.0 - 1.0)'],
  ['nv_gpu_memory_total_bytes', 'GPU total memory, in bytes'],
  ['nv_gpu_memory_used_bytes', 'GPU used memory, in bytes'],
  ['nv_gpu_power_usage', 'GPU power usage in watts'],
  ['nv_gpu_power_limit', 'GPU power management limit in watts'],
  ['nv_cpu_utilization', 'CPU utilization rate [0.0 - 1.0]'],
  ['nv_cpu_memory_total_bytes', 'CPU total memory (RAM), in bytes'],
  ['nv_cpu_memory_used_bytes', 'CPU used memory (RAM), in bytes'],
  ['nv_cache_util', 'Cache utilization [0.0 - 1.0]'],
  ['nv_cache_num_entries', 'Number of responses stored in response cache'],
  ['nv_cache_num_hits', 'Number of cache hits in response cache'],
  ['nv_cache_num_misses', 'Number of cache misses in response cache'],
  ['nv_cache_num_lookups', 'Number of cache lookups in response cache'],
  ['nv_cache_num_evictions', 'Number of cache evictions in response cache'],
  ['nv_cache_lookup_duration', 'Total cache lookup duration (hit and miss), in microseconds'],
  ['nv_cache_insertion_duration', 'Total cache insertion duration, in microseconds'],
  ['nv_trt_llm_request_metrics', 'TRT LLM request metrics'],
  ['nv_trt_llm_runtime_memory_metrics', 'TRT LLM runtime memory metrics'],
  ['nv_trt_llm_kv_cache_block_metrics', 'TRT LLM KV cache block metrics'],
  ['nv_trt_llm_inflight_batcher_metrics', 'TRT LLM inflight_batcher-specific metrics'],
  // Of static batching: a server with in-flight batching has it only beside a second model; here it rests at 0.
  ['nv_trt_llm_v1_metrics', 'TRT LLM v1-specific metrics'],
  ['nv_trt_llm_general_metrics', 'General TRT LLM metrics'],
];

const HISTOGRAMS: PageEntries = [
  // Not in 2.51.0, but in the releases after it.
  ['nv_inference_first_response_histogram_ms', 'Duration from request to first response in milliseconds'],
  ['nv_llm_output_token_len', 'TRT LLM response metrics'],
  ['nv_llm_input_token_len', 'TRT LLM response metrics'],
  ['vllm:time_to_first_token_seconds', 'Histogram of time to first token in seconds.'],
  ['vllm:time_per_output_token_seconds', 'Histogram of time per output token in seconds.'],
  ['vllm:e2e_request_latency_seconds', 'Histogram of end to end request latency in seconds.'],
  ['vllm:request_prompt_tokens', 'Number of prefill tokens processed.'],
  ['vllm:request_generation_tokens', 'Number of generation tokens processed.'],
  ['vllm:request_params_n', 'Histogram of the n request parameter.'],
];

const SUMMARIES: PageEntries = [
  [
    'nv_inference_request_summary_us',
    'Summary of inference request duration in microseconds (includes cached requests)',
  ],
  ['nv_inference_queue_summary_us', 'Summary of inference queuing duration in microseconds (includes cached requests)'],
  [
    'nv_inference_compute_input_summary_us',
    'Cumulative compute input duration in microseconds (does not include cached requests)',
  ],
  [
    'nv_inference_compute_infer_summary_us',
    'Cumulative compute inference duration in microseconds (does not include cached requests)',
  ],
  [
    'nv_inference_compute_output_summary_us',
    'Cumulative inference compute output duration in microseconds (does not include cached requests)',
  ],
  ['nv_cache_hit_summary_per_model', 'Summary of cache hit counts/durations per model, in microseconds.'],
  ['nv_cache_miss_summary_per_model', 'Summary of cache miss counts/durations per model, in microseconds.'],
];

/** In the order of prometheus-cpp's registry: by type, each in the order of registration. */
export const TRITON_PAGE: PageEntries = [...COUNTERS, ...GAUGES, ...HISTOGRAMS, ...SUMMARIES];
