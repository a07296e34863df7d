/** Required families of the catalogs that stand on no panel and in no rule, with the reason. */
export const NOT_SHOWN: readonly { readonly families: RegExp; readonly reason: string }[] = [
  {
    families: /^trtllm_iter_/,
    reason:
      'not on a page that Prometheus scrapes: rows of JSON that empty when they are read, which `llmbench collect` turns into ' +
      'these families in the run directory',
  },
  {
    families: /^dynamo_component_nats_(client|service)_/,
    reason: 'of 2025 releases only; later ones have the TCP request plane, whose transport is shown',
  },
  {
    families: /^dynamo_tokio_budget_forced_yield_total$/,
    reason:
      'the page of 1.4.2 says counter and its source gauge: neither a rate nor the value is safe in every release',
  },
  {
    families: /^sglang:(cache_hit_rate)$/,
    reason: 'of the last prefill batch, and 0 after every decode report; the ratio of counters is shown instead',
  },
  {
    families: /^sglang:(num_paused_reqs|pending_prealloc_token_usage|utilization|is_cuda_graph)$/,
    reason: 'exported, but never updated: always 0 (or −1), whatever happens',
  },
  {
    families: /^sglang:(grammar_.+|num_grammar_(cache_hit_|aborted_|timeout_)?total|max_running_requests_under_SLO)$/,
    reason: 'defined, but nothing in the server writes them: no series ever',
  },
  {
    families: /^sglang:routing_key_(running|all)_req_count$/,
    reason:
      'a gauge with half-open ranges in `le`, which looks like a histogram and is none: every ready-made panel misreads it',
  },
  {
    families: /^sglang:eplb_gpu_physical_count$/,
    reason: 'ranks encoded as observations, per layer: a debugging aid of hundreds of series, not a distribution',
  },
  {
    families: /^sglang:engine_(startup|load_weights)_time$/,
    reason: 'removed from SGLang',
  },
  {
    families: /^trtllm_kv_cache_iter_reused_blocks_total$/,
    reason:
      'the sum of the reused whole and in part, which are shown, and the same as trtllm_kv_cache_reused_blocks_total',
  },
  {
    families:
      /^trtllm_(cpu_memory_usage_bytes|pinned_memory_usage_bytes|max_batch_size_static|max_batch_size_runtime|max_num_tokens_runtime|avg_decoded_tokens_per_iter)$/,
    reason: 'always 0 on the PyTorch backend',
  },
];
