import type { PageEntries } from '../../metrics/page-families.ts';

/** The histograms of a page of trtllm-serve under load, in its order, with its HELP text. */
export const TRTLLM_HISTOGRAMS: PageEntries = [
  ['trtllm_prefill_batch_tokens', 'Histogram of total context tokens per iteration.'],
  ['trtllm_e2e_request_latency_seconds', 'Histogram of end to end request latency in seconds.'],
  ['trtllm_time_to_first_token_seconds', 'Histogram of time to first token in seconds.'],
  ['trtllm_time_per_output_token_seconds', 'Histogram of time per output token in seconds.'],
  ['trtllm_request_queue_time_seconds', 'Histogram of time spent in WAITING phase for request.'],
  [
    'trtllm_request_prefill_time_seconds',
    'Histogram of prefill (context) phase duration in seconds (first_token_time - first_scheduled_time).',
  ],
  [
    'trtllm_request_decode_time_seconds',
    'Histogram of decode (generation) phase duration in seconds (last_token_time - first_token_time).',
  ],
  [
    'trtllm_request_inference_time_seconds',
    'Histogram of total inference duration in seconds (last_token_time - first_scheduled_time).',
  ],
  ['trtllm_prompt_cached_tokens_per_request', 'Histogram of cached prompt tokens per request.'],
  ['trtllm_generation_perplexity', 'Histogram of generation perplexity per request.'],
  ['trtllm_prefill_perplexity', 'Histogram of prefill perplexity per request.'],
];
