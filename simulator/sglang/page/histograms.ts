import type { PageEntries } from '../../metrics/page-families.ts';

/** The histograms of a page of SGLang 0.5.23 under load, in its order, with its HELP text. */
export const SGLANG_HISTOGRAMS: PageEntries = [
  [
    'sglang:dp_attention_token_imbalance_ratio',
    'Per MLP-sync step, max tokens over mean tokens across the DP ranks (1.0 = balanced, num_dp_ranks = one busy rank). Reported once per engine, by the scheduler of DP rank 0.',
  ],
  [
    'sglang:dp_attention_sync_wait_seconds',
    "Wall time of this DP rank's scheduler MLP-sync all-gather per step. On the gloo path (the default with overlap scheduling) this is waiting for the slowest rank; on the device-group paths it also includes the gather's stream sync.",
  ],
  ['sglang:time_to_first_token_seconds', 'Histogram of time to first token in seconds.'],
  ['sglang:queue_time_seconds', 'Histogram of queueing time in seconds.'],
  ['sglang:per_stage_req_latency_seconds', 'The latency of each stage of requests.'],
  ['sglang:inter_token_latency_seconds', 'Histogram of inter-token latency in seconds.'],
  ['sglang:e2e_request_latency_seconds', 'Histogram of End-to-end request latency in seconds'],
  [
    'sglang:request_time_per_output_token_seconds',
    'Per-request TPOT in seconds: (finished_time - first_token_time) / (completion_tokens - 1).',
  ],
  ['sglang:prompt_tokens_histogram', 'Histogram of prompt token length.'],
  ['sglang:uncached_prompt_tokens_histogram', 'Histogram of uncached (compute) prompt token length.'],
  ['sglang:generation_tokens_histogram', 'Histogram of generation token length.'],
  [
    'sglang:eviction_duration_seconds',
    'End-to-end time of a device eviction pass in seconds; under --hicache-write-policy write_back this includes the blocking D->H backup (see sglang:hicache_backup_duration_seconds for the copy alone).',
  ],
];
