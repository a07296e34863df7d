import { closedRow, detailsRow, facts, lines, type RowSpec } from '../server/panel-spec.ts';
import type { ServerQueries } from '../server/server-queries.ts';

/** What vLLM's caches and optional parts do; the rows of parts that a server does not use stay empty. */
export function vllmFeatureRows(q: ServerQueries): RowSpec[] {
  return [cache(q), offload(q), transfer(q), speculation(q), inputs(q), hardware(q), frontEnd(q)];
}

function cache(q: ServerQueries): RowSpec {
  return closedRow(5, 'KV cache and prefix cache', [
    lines(
      'Prefix cache hits',
      'Tokens found ÷ tokens looked up, from counters. If it is low although prompts share a beginning, the cache is too small or requests go to another replica.',
      [
        q.ratio('vllm:prefix_cache_hits_total', 'vllm:prefix_cache_queries_total', { as: 'local' }),
        q.ratio('vllm:external_prefix_cache_hits_total', 'vllm:external_prefix_cache_queries_total', {
          as: 'external',
        }),
        q.ratio('vllm:prompt_tokens_cached_total', 'vllm:prompt_tokens_total', { as: 'of all prompt tokens' }),
      ],
      { max: 1 },
    ),
    lines(
      'Cached prompt tokens by tier',
      'Which tier supplied the tokens. Lower tiers cost transfer time: see their rows.',
      [q.rate('vllm:prompt_tokens_cached_by_source_total', { by: ['source'], as: '' })],
    ),
    lines(
      'Life of a KV block',
      'Age at eviction, time since the last use, and time between uses, of sampled blocks. If blocks are evicted soon after use, the cache is too small for the load.',
      [
        q.percentiles('vllm:kv_block_lifetime_seconds', [0.5], { as: 'age' }),
        q.percentiles('vllm:kv_block_idle_before_evict_seconds', [0.5], { as: 'idle' }),
        q.percentiles('vllm:kv_block_reuse_gap_seconds', [0.5], { as: 'between uses' }),
      ],
    ),
    facts(
      'Cache configuration',
      'Configuration of the engine. Runs are comparable only with equal configurations.',
      q.info('vllm:cache_config_info', CACHE_FACTS),
      CACHE_FACTS,
    ),
  ]);
}

const CACHE_FACTS = [
  'engine',
  'block_size',
  'num_gpu_blocks',
  'cache_dtype',
  'enable_prefix_caching',
  'gpu_memory_utilization',
];

function offload(q: ServerQueries): RowSpec {
  return detailsRow(6, 'KV offload tiers', [
    lines(
      'Bytes moved',
      'Between the GPU and the tiers behind it. Older versions have one family for both directions.',
      [
        q.rate('vllm:kv_offload_load_bytes_total', { as: 'load' }),
        q.rate('vllm:kv_offload_store_bytes_total', { as: 'store' }),
        q.rate('vllm:kv_offload_total_bytes_total', { by: ['transfer_type'], as: '' }),
      ],
    ),
    lines('Time per byte moved', 'Transfer time ÷ bytes: a slow tier or many small transfers.', [
      q.ratio('vllm:kv_offload_load_time_total', 'vllm:kv_offload_load_bytes_total', { as: 'load', unit: 'seconds' }),
      q.ratio('vllm:kv_offload_store_time_total', 'vllm:kv_offload_store_bytes_total', {
        as: 'store',
        unit: 'seconds',
      }),
      q.ratio('vllm:kv_offload_total_time_total', 'vllm:kv_offload_total_bytes_total', {
        by: ['transfer_type'],
        as: '',
        unit: 'seconds',
      }),
    ]),
    lines('Transfer size', 'Small transfers waste bandwidth.', [
      q.percentiles('vllm:kv_offload_load_size', [0.5], { as: 'load' }),
      q.percentiles('vllm:kv_offload_store_size', [0.5], { as: 'store' }),
      q.percentiles('vllm:kv_offload_size', [0.5], { by: ['transfer_type'] }),
    ]),
    lines('Delay of a lookup', 'Time that a request waits for the answer of the tiers, before its prefill.', [
      q.percentiles('vllm:kv_offload_lookup_sync_delay_seconds', [0.99], { as: 'synchronous' }),
      q.percentiles('vllm:kv_offload_lookup_async_delay_seconds', [0.99], { as: 'asynchronous' }),
    ]),
    lines(
      'CPU tier usage',
      'When it is full, stores are skipped or evict blocks that may be needed.',
      [
        q.gauge('vllm:kv_offload_cpu_cache_usage_perc', { as: 'used' }),
        q.gauge('vllm:hisparse_host_cache_usage_perc', { as: 'HiSparse' }),
      ],
      { max: 1 },
    ),
    lines(
      'HiSparse lookups',
      'Hits in the device cache of sparse attention, and misses, which are read from the host.',
      [
        q.rate('vllm:hisparse_cache_hits_total', { as: 'hits' }),
        q.rate('vllm:hisparse_cache_misses_total', { as: 'misses' }),
      ],
    ),
    lines('Stores skipped, allocations failed', 'Above 0, the CPU tier is too small or too slow for the load.', [
      q.rate('vllm:kv_offload_stores_skipped_total', { as: 'stores skipped', unit: 'events' }),
      q.rate('vllm:kv_offload_allocation_failure_total', { as: 'allocations failed', unit: 'events' }),
    ]),
  ]);
}

function transfer(q: ServerQueries): RowSpec {
  return detailsRow(7, 'KV transfer between prefill and decode', [
    lines('Transfer time', 'From post to completion: part of the time to first token of a disaggregated deployment.', [
      q.percentiles('vllm:nixl_xfer_time_seconds', [0.5, 0.99], { as: 'NIXL' }),
      q.percentiles('vllm:nixl_post_time_seconds', [0.99], { as: 'NIXL, post' }),
      q.percentiles('vllm:mooncake_xfer_time_seconds', [0.5, 0.99], { as: 'Mooncake' }),
    ]),
    lines('Bytes transferred', 'Volume per second.', [
      q.sumRate('vllm:nixl_bytes_transferred', { as: 'NIXL' }),
      q.sumRate('vllm:mooncake_bytes_transferred', { as: 'Mooncake' }),
    ]),
    lines('Descriptors per transfer', 'Many descriptors mean fragmented copies; larger blocks help.', [
      q.mean('vllm:nixl_num_descriptors', { as: 'NIXL' }),
      q.mean('vllm:mooncake_num_descriptors', { as: 'Mooncake' }),
    ]),
    lines(
      'Requests that fetch KV',
      'Of the consumer of a pair, by stage. Requests that wait to start are limited by the connector, those in progress by the network.',
      [q.gauge('vllm:num_requests_kv_fetch_by_stage', { by: ['stage'], as: '' })],
    ),
    lines('Failures', 'Above 0, requests fall back or fail. Check the network between the two servers.', [
      q.rate('vllm:nixl_num_failed_transfers_total', { as: 'NIXL transfers', unit: 'failures' }),
      q.rate('vllm:nixl_num_failed_notifications_total', { as: 'NIXL notifications', unit: 'failures' }),
      q.rate('vllm:mooncake_num_failed_transfers_total', { as: 'Mooncake transfers', unit: 'failures' }),
      q.rate('vllm:mooncake_num_failed_recvs_total', { as: 'Mooncake receives', unit: 'failures' }),
    ]),
  ]);
}

function speculation(q: ServerQueries): RowSpec {
  return detailsRow(8, 'Speculative decoding', [
    lines(
      'Acceptance',
      'Draft tokens accepted ÷ proposed, from counters. If it is low, drafting costs more than it saves: use fewer draft tokens or another drafter.',
      [
        q.ratio('vllm:spec_decode_num_accepted_tokens_total', 'vllm:spec_decode_num_draft_tokens_total', {
          as: 'accepted',
        }),
      ],
      { max: 1 },
    ),
    lines(
      'Acceptance length',
      'Draft tokens accepted per draft + 1, the token that the model gives itself. The speedup is at most this value.',
      [
        q.custom(
          `1 + sum by (model_name, instance) (rate(${q.selector('vllm:spec_decode_num_accepted_tokens_total')}[$__rate_interval])) / ` +
            `sum by (model_name, instance) (rate(${q.selector('vllm:spec_decode_num_drafts_total')}[$__rate_interval]))`,
          ['vllm:spec_decode_num_accepted_tokens_total', 'vllm:spec_decode_num_drafts_total'],
          { unit: 'locale', axis: 'tokens' },
          'tokens {{instance}}',
        ),
      ],
    ),
    lines('Accepted by position', 'Acceptance falls with the position. Where it is near 0, the draft is too long.', [
      q.rate('vllm:spec_decode_num_accepted_tokens_per_pos_total', { by: ['position'], as: 'position' }),
    ]),
  ]);
}

function inputs(q: ServerQueries): RowSpec {
  return detailsRow(9, 'Multimodal inputs and adapters', [
    lines(
      'Multimodal cache hits',
      'Items found in the processor cache ÷ items looked up.',
      [q.ratio('vllm:mm_cache_hits_total', 'vllm:mm_cache_queries_total', { as: 'hits' })],
      { max: 1 },
    ),
    facts(
      'Adapters in use',
      'LoRA adapters that run or wait. If more wait than max_lora, raise max_lora.',
      q.info('vllm:lora_requests_info', LORA_FACTS),
      LORA_FACTS,
    ),
  ]);
}

const LORA_FACTS = ['max_lora', 'running_lora_adapters', 'waiting_lora_adapters'];

function hardware(q: ServerQueries): RowSpec {
  return detailsRow(10, 'Work of the model (modeled)', [
    lines(
      'Floating-point operations',
      'Modeled operations per GPU. Divided by the peak of the GPU, they are the model utilization.',
      [q.rate('vllm:estimated_flops_per_gpu_total', { as: 'operations' })],
    ),
    lines('Memory traffic', 'Modeled bytes per GPU. Near the bandwidth of the GPU, decoding is limited by memory.', [
      q.rate('vllm:estimated_read_bytes_per_gpu_total', { as: 'read' }),
      q.rate('vllm:estimated_write_bytes_per_gpu_total', { as: 'written' }),
    ]),
  ]);
}

function frontEnd(q: ServerQueries): RowSpec {
  return detailsRow(11, 'API server and process', [
    lines('HTTP request duration', 'Time until the response is complete or, for a stream, until it begins.', [
      q.percentiles('http_request_duration_highr_seconds', [0.5, 0.99]),
    ]),
    lines(
      'CPU',
      'Cores that the API server uses. Near 1, a Python front end is the bottleneck: use more API servers.',
      [q.rate('process_cpu_seconds_total', { as: 'CPU' })],
    ),
    lines('Memory', 'Resident memory of the API server. Growth without end is a leak.', [
      q.gauge('process_resident_memory_bytes', { as: 'resident' }),
    ]),
    lines('Open files', 'Sockets and files. Near the limit, new connections fail.', [
      q.gauge('process_open_fds', { as: 'open' }),
      q.gauge('process_max_fds', { as: 'limit' }),
    ]),
  ]);
}
