import { detailsRow, lines, type RowSpec } from '../server/panel-spec.ts';
import type { ServerQueries } from '../server/server-queries.ts';

/** The caches behind the GPU, speculative decoding, adapters, and what the server was started with. */
export function sglangFeatureRows(q: ServerQueries): RowSpec[] {
  return [offload(q), speculation(q), adapters(q), configuration(q)];
}

function offload(q: ServerQueries): RowSpec {
  return detailsRow(7, 'Hierarchical cache: host memory and storage', [
    lines(
      'Host tier',
      'Tokens held, and the capacity. When it is full, the oldest tokens are dropped or moved to storage.',
      [
        q.gauge('sglang:hicache_host_used_tokens', { as: 'used' }),
        q.gauge('sglang:hicache_host_total_tokens', { as: 'all' }),
      ],
    ),
    lines('Host tier: Mamba states', 'States held, and the capacity.', [
      q.gauge('sglang:hicache_host_mamba_used_states', { as: 'used' }),
      q.gauge('sglang:hicache_host_mamba_total_states', { as: 'all' }),
    ]),
    lines('Tokens moved', 'Loaded back to the GPU, read ahead from storage, written to it.', [
      q.rate('sglang:load_back_tokens_total', { as: 'back to the GPU' }),
      q.rate('sglang:prefetched_tokens_total', { as: 'read ahead' }),
      q.rate('sglang:backuped_tokens_total', { as: 'written' }),
    ]),
    lines(
      'Storage: found and not delivered',
      'Tokens that storage had, and those that did not come in time, with the reason. deadline: storage is too slow.',
      [
        q.rate('sglang:storage_prefetch_hit_tokens_total', { as: 'found' }),
        q.rate('sglang:storage_prefetch_unfulfilled_tokens_total', { by: ['reason'], as: 'not delivered' }),
        q.rate('sglang:storage_prefetch_deferred_tokens_total', { by: ['reason'], as: 'put off' }),
      ],
    ),
    lines('Duration of evictions and reloads', 'Each of them delays the scheduler.', [
      q.percentiles('sglang:eviction_duration_seconds', [0.99], { as: 'eviction' }),
      q.percentiles('sglang:load_back_duration_seconds', [0.99], { as: 'reload' }),
    ]),
    lines('Storage bandwidth', 'Of a read or write batch. If it falls under load, the storage is saturated.', [
      q.percentiles('sglang:prefetch_bandwidth', [0.5], { as: 'read' }),
      q.percentiles('sglang:backup_bandwidth', [0.5], { as: 'write' }),
    ]),
    lines('Pages per storage batch', 'Small batches waste bandwidth.', [
      q.mean('sglang:prefetch_pgs', { as: 'read' }),
      q.mean('sglang:backup_pgs', { as: 'write' }),
    ]),
  ]);
}

function speculation(q: ServerQueries): RowSpec {
  return detailsRow(8, 'Speculative decoding', [
    lines(
      'Acceptance',
      'Drafts accepted ÷ proposed, from the last report of the scheduler. If it is low, use fewer draft tokens or another drafter.',
      [q.gauge('sglang:spec_accept_rate', { as: 'accepted' })],
      { max: 1 },
    ),
    lines('Tokens per verification', 'From the last report of the scheduler. The speedup is at most this value.', [
      q.highest('sglang:spec_accept_length', { as: 'tokens' }),
    ]),
    lines(
      'Tokens per verification, from counters',
      'Output tokens of finished requests ÷ their verifications, over the window and not from a single report.',
      [
        q.custom(
          `sum by (model_name, instance) (rate(${q.selector('sglang:generation_tokens_total')}[$__rate_interval])) / ` +
            `sum by (model_name, instance) (rate(${q.selector('sglang:spec_verify_calls_total')}[$__rate_interval]))`,
          ['sglang:generation_tokens_total', 'sglang:spec_verify_calls_total'],
          { unit: 'locale', axis: 'tokens' },
          'tokens {{instance}} {{model_name}}',
        ),
      ],
    ),
  ]);
}

function adapters(q: ServerQueries): RowSpec {
  return detailsRow(9, 'LoRA adapters', [
    lines(
      'Adapter slots',
      'Occupied slots, and all slots. When all are occupied, requests for other adapters wait until one is loaded.',
      [q.gauge('sglang:lora_pool_slots_used', { as: 'used' }), q.gauge('sglang:lora_pool_slots_total', { as: 'all' })],
    ),
    lines('Adapter pool', 'Share of the slots in use.', [q.gauge('sglang:lora_pool_utilization', { as: 'used' })], {
      max: 1,
    }),
  ]);
}

function configuration(q: ServerQueries): RowSpec {
  return detailsRow(10, 'Configuration', [
    lines('Tokens', 'Longest context, and tokens per page. Compare only runs in which they are equal.', [
      q.highest('sglang:context_len', { as: 'context' }),
      q.highest('sglang:page_size', { as: 'page' }),
    ]),
    lines('Pages', 'KV pages in the pool.', [q.highest('sglang:num_pages', { as: 'pages' })]),
    lines('Free GPU memory after start', 'What activations and graphs have left.', [
      q.highest('sglang:startup_available_gpu_memory_gb', { as: 'free' }),
    ]),
  ]);
}
