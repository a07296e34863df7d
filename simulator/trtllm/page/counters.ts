import type { PageEntries } from '../../metrics/page-families.ts';

/** The counters of a page of trtllm-serve under load, in its order, with its HELP text. */
export const TRTLLM_COUNTERS: PageEntries = [
  [
    'trtllm_prompt_cached_tokens_total',
    'Process-lifetime total prompt tokens served from KV cache. Resets only when the serving process restarts, not when the KV cache is flushed or evicted.',
  ],
  ['trtllm_kv_cache_missed_blocks_total', 'Cumulative number of KV cache blocks missed (cache misses)'],
  [
    'trtllm_prompt_cache_hit_tokens_total',
    'Process-lifetime total prompt tokens served from each KV cache level. Resets only when the serving process restarts, not when the KV cache is flushed or evicted. cache_level is the index into the configured tier list and cache_tier names the memory backing it, so a deployment with a hot and a cold GPU level reports them as two series sharing the gpu name. Pages already prefetched from disk to host count as host.',
  ],
  ['trtllm_kv_cache_iter_missed_blocks_total', 'Total missed KV cache blocks (context phase)'],
  ['trtllm_spec_decode_num_draft_tokens_total', 'Total number of draft tokens in speculative decoding'],
  ['trtllm_spec_decode_num_accepted_tokens_total', 'Total number of accepted tokens in speculative decoding'],
  ['trtllm_kv_cache_gen_alloc_blocks_total', 'Total blocks allocated during generation phase'],
  ['trtllm_kv_cache_reused_blocks_total', 'Cumulative number of KV cache blocks reused (cache hits)'],
  ['trtllm_kv_cache_iter_reused_blocks_total', 'Total reused KV cache blocks (full + partial)'],
  ['trtllm_kv_cache_iter_full_reused_blocks_total', 'Total fully reused KV cache blocks'],
  ['trtllm_kv_cache_iter_partial_reused_blocks_total', 'Total partially reused KV cache blocks'],
  ['trtllm_kv_cache_intra_device_copy_bytes_total', 'Total bytes copied within GPU (intra-device block copies)'],
  ['trtllm_num_requests_completed_total', 'Total number of completed requests across iterations'],
  ['trtllm_request_success_total', 'Count of successfully processed requests.'],
  ['trtllm_prompt_tokens_total', 'Cumulative number of prompt (input) tokens processed.'],
  ['trtllm_generation_tokens_total', 'Cumulative number of generation (output) tokens produced.'],
  ['trtllm_spec_decode_drafted_tokens_total', 'Total drafted tokens per speculative decoding position.'],
  ['trtllm_spec_decode_accepted_tokens_total', 'Total accepted tokens per speculative decoding position.'],
  ['trtllm_kv_cache_offload_bytes_total', 'Total bytes transferred from GPU to host (offload)'],
  ['trtllm_kv_cache_onboard_bytes_total', 'Total bytes transferred from host to GPU (onboard)'],
  ['trtllm_request_error_total', 'Total request errors, labeled by HTTP status code.'],
  [
    'trtllm_kv_cache_disk_prefetch_blocks_total',
    'Process-lifetime total V2 KV-cache blocks migrated from disk to host by the prefetch mechanism. Resets only when the serving process restarts.',
  ],
];
