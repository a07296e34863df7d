import { closedRow, detailsRow, lines, type RowSpec } from '../server/panel-spec.ts';
import type { ServerQueries } from '../server/server-queries.ts';

/** Counters of events that are born with the first: 0 on a server that has finished a request. */
export const ZERO = { zeroWith: 'sglang:num_requests_total' };
/** As old as the counters of retractions: an older release counts none. */
export const NO_RETRACTION = { zeroWith: 'sglang:realtime_tokens_total' };

/** What the scheduler of SGLang is busy with. */
export function sglangSchedulerRows(q: ServerQueries): RowSpec[] {
  return [scheduler(q), pools(q), loop(q)];
}

function scheduler(q: ServerQueries): RowSpec {
  return closedRow(4, 'Scheduler', [
    lines(
      'Retractions',
      'Requests moved back to the queue per second because memory ran short. Lower the concurrency or raise --mem-fraction-static.',
      [q.rate('sglang:num_retracted_requests_total', { as: 'retracted', ...NO_RETRACTION })],
    ),
    lines('Tokens lost to retractions', 'Work that is done again.', [
      q.rate('sglang:num_retracted_input_tokens_total', { as: 'prompt', ...NO_RETRACTION }),
      q.rate('sglang:num_retracted_output_tokens_total', { as: 'output', ...NO_RETRACTION }),
    ]),
    lines(
      'Output tokens reserved',
      'Share of the requested output tokens that the scheduler reserves room for. After retractions it rises, and fewer requests are admitted.',
      [q.gauge('sglang:new_token_ratio', { as: 'reserved' })],
      { max: 1 },
    ),
    lines('Size of the decode batch in tokens', 'Sum of the sequence lengths: what a decode step reads.', [
      q.gauge('sglang:decode_sum_seq_lens', { as: 'tokens' }),
    ]),
    lines(
      'Forward passes',
      'By phase, and whether a CUDA graph was used. Decode passes without a graph have batch sizes that were not captured.',
      [q.rate('sglang:cuda_graph_passes_total', { by: ['mode'], as: '' })],
    ),
    lines(
      'Latest retraction and pause',
      'Requests retracted in the latest step with retractions, and paused requests. It is a snapshot; the counter beside it is exact.',
      [q.gauge('sglang:num_retracted_reqs', { as: 'retracted' })],
    ),
  ]);
}

function pools(q: ServerQueries): RowSpec {
  return closedRow(5, 'KV pool', [
    lines(
      'Token slots',
      'used: held by requests. evictable: held only by the prefix cache. Memory is short when available and evictable are both near 0.',
      [
        q.gauge('sglang:kv_used_tokens', { as: 'used' }),
        q.gauge('sglang:kv_evictable_tokens', { as: 'evictable' }),
        q.gauge('sglang:kv_available_tokens', { as: 'available' }),
        q.gauge('sglang:max_total_num_tokens', { as: 'all' }),
        q.gauge('sglang:num_used_tokens', { as: 'used, fullest pool' }),
      ],
    ),
    lines('Sliding-window slots', 'Of hybrid models; else 0.', [
      q.gauge('sglang:swa_used_tokens', { as: 'used' }),
      q.gauge('sglang:swa_evictable_tokens', { as: 'evictable' }),
      q.gauge('sglang:swa_available_tokens', { as: 'available' }),
    ]),
    lines('Mamba slots', 'State slots of hybrid models; else 0.', [
      q.gauge('sglang:mamba_used_tokens', { as: 'used' }),
      q.gauge('sglang:mamba_evictable_tokens', { as: 'evictable' }),
      q.gauge('sglang:mamba_available_tokens', { as: 'available' }),
    ]),
    lines(
      'Prefix cache hits',
      'Prompt tokens from the cache ÷ all prompt tokens, from counters. The gauge of the last prefill batch is 0 after every decode report.',
      [
        q.custom(
          `${prefill(q, 'mode="prefill_cache"')} / ${prefill(q, 'mode=~"prefill_.*"')}`,
          ['sglang:realtime_tokens_total'],
          { unit: 'percentunit' },
          'hits {{instance}}',
        ),
      ],
      { max: 1 },
    ),
    lines('Cached prompt tokens by tier', 'Of finished requests: from the GPU, from host memory, from storage.', [
      q.rate('sglang:cached_tokens_total', { by: ['cache_source'], as: '' }),
    ]),
    lines(
      'Evictions',
      'Slots freed per second. Many evictions and few hits mean that the pool is too small for the prefixes.',
      [q.rate('sglang:evicted_tokens_total', { by: ['cache_type'], as: '' })],
    ),
  ]);
}

/** The prompt tokens per second of some modes; every tensor-parallel rank counts the same. */
function prefill(q: ServerQueries, where: string): string {
  const rates = `rate(${q.selector('sglang:realtime_tokens_total', where)}[$__rate_interval])`;
  return `sum by (model_name, instance) (max by (model_name, instance, mode, dp_rank) (${rates}))`;
}

function loop(q: ServerQueries): RowSpec {
  return detailsRow(6, 'Scheduler loop, data parallelism, GPU time', [
    lines(
      'Loop time by stage',
      'Share of the time in each stage of the scheduler loop. If much of it is outside run_batch, the CPU delays the GPU.',
      [q.rate('sglang:scheduler_stage_seconds_total', { by: ['category'], as: '' })],
    ),
    lines(
      'Idle and CPU time',
      'Seconds per second without work, and seconds of CPU. If CPU is near 1, the scheduler process is the bottleneck.',
      [
        q.rate('sglang:scheduler_idle_seconds_total', { as: 'idle' }),
        q.rate('sglang:scheduler_process_cpu_seconds_total', { as: 'CPU' }),
      ],
    ),
    lines('Forward time', 'GPU seconds per second in forward passes, by mode.', [
      q.rate('sglang:forward_execution_seconds_total', { by: ['category'], as: '' }),
      q.rate('sglang:dp_cooperation_forward_execution_seconds_total', {
        by: ['num_prefill_ranks'],
        as: 'ranks in prefill',
      }),
    ]),
    lines(
      'GPU in forward passes',
      'Share of the wall time. Empty while idle.',
      [q.gauge('sglang:fwd_occupancy', { as: 'in forward' })],
      { max: 100 },
    ),
    lines(
      'Balance of data-parallel ranks: tokens',
      'imbalance: time that ranks wait for the busiest one. If it is high, route by load.',
      [
        q.rate('sglang:dp_attention_tokens_total', { by: ['kind'], as: '' }),
        q.rate('sglang:dp_cooperation_realtime_tokens_total', { by: ['num_prefill_ranks'], as: 'ranks in prefill' }),
      ],
    ),
    lines(
      'Balance of data-parallel ranks',
      'Tokens of the busiest rank over the mean, and attention pairs: 1 is even.',
      [
        q.mean('sglang:dp_attention_token_imbalance_ratio', { as: 'tokens' }),
        q.share('sglang:dp_attention_pairs_total', 'kind="imbalance"', { as: 'pairs out of balance' }),
        q.share('sglang:dp_attention_steps_total', 'rank_state="idle"', { as: 'steps of idle ranks' }),
      ],
    ),
    lines('Waiting for the other ranks', 'Time that a data-parallel rank waits in a step.', [
      q.percentiles('sglang:dp_attention_sync_wait_seconds', [0.5, 0.99]),
    ]),
    lines('Time to ask for the load', 'Of the /v1/loads query that gateways use.', [
      q.percentiles('sglang:get_loads_duration_seconds', [0.99]),
    ]),
    lines('Delayed prefills', 'Seconds that a prefill was held back so that data-parallel ranks prefill together.', [
      q.percentiles('sglang:prefill_delayer_wait_seconds', [0.5, 0.99]),
    ]),
    lines('Delayed prefills: passes', 'Forward passes that a prefill was held back.', [
      q.mean('sglang:prefill_delayer_wait_forward_passes', { as: 'mean' }),
    ]),
    lines('Delayed prefills: outcome', 'Why a prefill was let go or held back.', [
      q.rate('sglang:prefill_delayer_outcomes_total', { by: ['output_reason'], as: '' }),
    ]),
    lines(
      'Floating-point operations',
      'Modeled operations per GPU. Divided by the peak of the GPU, they are the model utilization.',
      [q.rate('sglang:estimated_flops_per_gpu_total', { as: 'operations' })],
    ),
    lines('Memory traffic', 'Modeled bytes per GPU. Near the bandwidth of the GPU, decoding is limited by memory.', [
      q.rate('sglang:estimated_read_bytes_per_gpu_total', { as: 'read' }),
      q.rate('sglang:estimated_write_bytes_per_gpu_total', { as: 'written' }),
    ]),
    lines('Routing keys', 'Distinct keys in the batch: few keys are few users or a sticky router.', [
      q.gauge('sglang:num_unique_running_routing_keys', { as: 'keys' }),
    ]),
    lines('Streaming sessions', 'Open sessions.', [q.gauge('sglang:num_streaming_sessions', { as: 'open' })]),
    lines('Tokens held by sessions', 'KV tokens that open sessions keep from others.', [
      q.gauge('sglang:streaming_session_held_tokens', { as: 'held' }),
    ]),
  ]);
}
