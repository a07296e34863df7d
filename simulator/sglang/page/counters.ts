import type { PageEntries } from '../../metrics/page-families.ts';

/** The counters of a page of SGLang 0.5.23 under load, in its order, with its HELP text. */
export const SGLANG_COUNTERS: PageEntries = [
  [
    'sglang:prefill_effective_tokens_total',
    'Effective prefill tokens with retracted-request re-counts excluded, updated on each log interval. mode: device_hit, host_hit, storage_hit, input. Windowed prefix cache hit rate = rate(sum of *_hit) / rate(sum of all modes); per-tier rate uses a single *_hit mode in the numerator.',
  ],
  ['sglang:scheduler_idle_seconds_total', 'Total wall time while the scheduler has no runnable or queued work.'],
  [
    'sglang:scheduler_process_cpu_seconds_total',
    'Total CPU time consumed by the scheduler process across all threads.',
  ],
  [
    'sglang:scheduler_stage_seconds_total',
    'Total scheduler-loop wall time exclusively attributed to each stage. forward_overlap (full, partial, none): full=both endpoints active, partial=one, none=no observed overlap (including unavailable timing). Not exact overlapped/exposed seconds.',
  ],
  [
    'sglang:dp_attention_tokens_total',
    'Tokens of MLP-sync steps on this DP rank. kind=scheduled: tokens this rank ran; kind=imbalance: tokens the busiest rank ran beyond this rank, i.e. capacity lost to DP imbalance on this rank. On speculative-decode steps the unit is batch rows (requests).',
  ],
  [
    'sglang:dp_attention_steps_total',
    'MLP-sync steps on this DP rank. rank_state=idle: this rank had no tokens and only ran to keep the DP collectives in lockstep.',
  ],
  [
    'sglang:dp_attention_pairs_total',
    "Causal (query, key) pairs attended by MLP-sync steps on this DP rank, pricing every layer as full attention: a decode row reads its sequence, a prefill chunk its prefix plus the pairs within the chunk. kind=scheduled: this rank; kind=imbalance: the busiest rank's excess over this rank. The context-length counterpart of sglang:dp_attention_tokens_total; like it, speculative-decode steps count one query per row. Sliding-window layers execute fewer pairs than counted, so on hybrid-SWA models long rows are overstated.",
  ],
  [
    'sglang:storage_prefetch_unfulfilled_tokens_total',
    "Attempt-level storage-hit tokens that did not become a usable prefetch result, by diagnostic reason. This is not a final prefill cache-miss counter. anchor_lost means the original device prefix was no longer present when the prefetch needed it; aux_window_trim means a staged aux trailing window could not be trimmed to the shorter splice, so the loaded span was released; device_overlap means the live device prefix diverged from the request's view at splice time, so the span beyond it was released; cache_admission_shortfall means an L3-loaded L2 span was no longer reusable when cache-mode admission ran; deadline means the storage prefetch stop policy ended the read before it completed.",
  ],
  [
    'sglang:storage_prefetch_deferred_tokens_total',
    'Storage-prefetch token-attempts deferred for later reuse, by transient capacity reason.',
  ],
  ['sglang:cuda_graph_passes_total', 'Total number of forward passes categorized by CUDA graph.'],
  [
    'sglang:forward_execution_seconds_total',
    'Total time that GPU is busy executing model forward passes. Refer to ForwardMode for category labels.',
  ],
  [
    'sglang:realtime_tokens_total',
    'Total number of tokens processed (updated on each log interval). mode: prefill_compute, prefill_cache, decode.',
  ],
  ['sglang:prompt_tokens_total', 'Number of prefill tokens processed.'],
  ['sglang:generation_tokens_total', 'Number of generation tokens processed.'],
  ['sglang:num_requests_total', 'Number of requests processed.'],
  [
    'sglang:evicted_tokens_total',
    'The number of device KV token slots freed by eviction, regardless of whether the data was backed up to host (see sglang:hicache_backup_tokens_total) or destroyed (see sglang:hicache_dropped_tokens_total).',
  ],
  [
    'sglang:prefetched_tokens_total',
    'Prompt tokens successfully transferred from L3 storage into host memory, before admission-time reuse or discard.',
  ],
  ['sglang:backuped_tokens_total', 'Number of backuped tokens.'],
  ['sglang:cached_tokens_total', 'Number of cached prompt tokens by source (device/host/storage).'],
  ['sglang:num_aborted_requests_total', 'Number of requests aborted.'],
];
