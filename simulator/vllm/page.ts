/**
 * The families of a page of vLLM 0.32.0 that are there whatever switches are set, in the order of the page, each with
 * the HELP text of the page (the catalog's is in our own words). Types, labels and buckets come from the catalog.
 */
export const VLLM_PAGE: readonly (readonly [name: string, help: string])[] = [
  ['python_gc_objects_collected_total', 'Objects collected during gc'],
  ['python_gc_objects_uncollectable_total', 'Uncollectable objects found during GC'],
  ['python_gc_collections_total', 'Number of times this generation was collected'],
  ['python_info', 'Python platform information'],
  ['process_virtual_memory_bytes', 'Virtual memory size in bytes.'],
  ['process_resident_memory_bytes', 'Resident memory size in bytes.'],
  ['process_start_time_seconds', 'Start time of the process since unix epoch in seconds.'],
  ['process_cpu_seconds_total', 'Total user and system CPU time spent in seconds.'],
  ['process_open_fds', 'Number of open file descriptors.'],
  ['process_max_fds', 'Maximum number of open file descriptors.'],
  [
    'vllm:estimated_flops_per_gpu_total',
    'Estimated number of floating point operations per GPU (for Model Flops Utilization calculations).',
  ],
  [
    'vllm:estimated_read_bytes_per_gpu_total',
    'Estimated number of bytes read from memory per GPU (for Model Flops Utilization calculations).',
  ],
  [
    'vllm:estimated_write_bytes_per_gpu_total',
    'Estimated number of bytes written to memory per GPU (for Model Flops Utilization calculations).',
  ],
  ['vllm:num_requests_running', 'Number of requests in model execution batches.'],
  ['vllm:num_requests_waiting', 'Number of requests waiting to be processed.'],
  [
    'vllm:num_requests_waiting_by_reason',
    "Number of waiting requests by reason. Reason labels: 'capacity' = waiting for scheduling capacity; 'deferred' = deferred by transient constraints (LoRA budget, KV transfer, blocked status). Sum of all reasons equals vllm:num_requests_waiting.",
  ],
  [
    'vllm:engine_sleep_state',
    'Engine sleep state; awake = 0 means engine is sleeping; awake = 1 means engine is awake; weights_offloaded = 1 means sleep level 1; discard_all = 1 means sleep level 2.',
  ],
  ['vllm:kv_cache_usage_perc', 'KV-cache usage. 1 means 100 percent usage.'],
  ['vllm:prefix_cache_queries_total', 'Prefix cache queries, in terms of number of queried tokens.'],
  ['vllm:prefix_cache_hits_total', 'Prefix cache hits, in terms of number of cached tokens.'],
  [
    'vllm:external_prefix_cache_queries_total',
    'External prefix cache queries from KV connector cross-instance cache sharing, in terms of number of queried tokens.',
  ],
  [
    'vllm:external_prefix_cache_hits_total',
    'External prefix cache hits from KV connector cross-instance cache sharing, in terms of number of cached tokens.',
  ],
  ['vllm:mm_cache_queries_total', 'Multi-modal cache queries, in terms of number of queried items.'],
  ['vllm:mm_cache_hits_total', 'Multi-modal cache hits, in terms of number of cached items.'],
  ['vllm:num_preemptions_total', 'Cumulative number of preemption from the engine.'],
  ['vllm:prompt_tokens_total', 'Number of prefill tokens processed.'],
  ['vllm:prompt_tokens_by_source_total', 'Number of prompt tokens by source.'],
  ['vllm:prompt_tokens_cached_total', 'Number of cached prompt tokens (local + external).'],
  [
    'vllm:prompt_tokens_cached_by_source_total',
    'Prefix-cache hit tokens by the cache tier that supplied them: device (local HBM), host (offloaded to DRAM), disk, p2p (transferred from another vLLM instance) or external_unspecified. Counted at admission; sums to vllm:prefix_cache_hits + vllm:external_prefix_cache_hits.',
  ],
  ['vllm:generation_tokens_total', 'Number of generation tokens processed.'],
  ['vllm:request_success_total', 'Count of successfully processed requests.'],
  ['vllm:admission_rejections_total', 'Number of admission attempts rejected by a queue limit, by reason.'],
  ['vllm:request_prompt_tokens', 'Number of prefill tokens processed.'],
  ['vllm:request_generation_tokens', 'Number of generation tokens processed.'],
  ['vllm:iteration_tokens_total', 'Histogram of number of tokens per engine_step.'],
  ['vllm:request_max_num_generation_tokens', 'Histogram of maximum number of requested generation tokens.'],
  ['vllm:request_params_n', 'Histogram of the n request parameter.'],
  ['vllm:request_params_max_tokens', 'Histogram of the max_tokens request parameter.'],
  ['vllm:time_to_first_token_seconds', 'Histogram of time to first token in seconds.'],
  ['vllm:inter_token_latency_seconds', 'Histogram of inter-token latency in seconds.'],
  ['vllm:request_time_per_output_token_seconds', 'Histogram of time_per_output_token_seconds per request.'],
  ['vllm:e2e_request_latency_seconds', 'Histogram of e2e request latency in seconds.'],
  ['vllm:request_queue_time_seconds', 'Histogram of time spent in WAITING phase for request.'],
  ['vllm:request_inference_time_seconds', 'Histogram of time spent in RUNNING phase for request.'],
  ['vllm:request_prefill_time_seconds', 'Histogram of time spent in PREFILL phase for request.'],
  ['vllm:request_decode_time_seconds', 'Histogram of time spent in DECODE phase for request.'],
  ['vllm:request_num_preemptions', 'Histogram of the number of times a request was preempted.'],
  [
    'vllm:request_prefill_kv_computed_tokens',
    'Histogram of new KV tokens computed during prefill (excluding cached tokens).',
  ],
  ['vllm:cache_config_info', 'Information of the LLMEngine CacheConfig'],
  ['http_requests_total', 'Total number of requests by method, status and handler.'],
  [
    'http_request_size_bytes',
    'Content length of incoming requests by handler. Only value of header is respected. Otherwise ignored. No percentile calculated. ',
  ],
  [
    'http_response_size_bytes',
    'Content length of outgoing responses by handler. Only value of header is respected. Otherwise ignored. No percentile calculated. ',
  ],
  [
    'http_request_duration_highr_seconds',
    'Latency with many buckets but no API specific labels. Made for more accurate percentile calculations. ',
  ],
  [
    'http_request_duration_seconds',
    'Latency with only few buckets by handler. Made to be only used if aggregation by handler is important. ',
  ],
];
