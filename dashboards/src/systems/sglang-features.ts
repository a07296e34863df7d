import { detailsRow, lines, type RowSpec } from '../server/panel-spec.ts';
import { ServerQueries } from '../server/server-queries.ts';

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
          'tokens {{instance}}',
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

/** Prefill and decode on different servers. */
export function sglangDisaggregationRows(q: ServerQueries): RowSpec[] {
  return [
    detailsRow(11, 'Disaggregated prefill and decode', [
      lines(
        'Queues of the prefill server',
        'bootstrap: waiting for the handshake. in flight: KV being transferred. The queue that grows is the bottleneck.',
        [
          q.gauge('sglang:num_prefill_bootstrap_queue_reqs', { as: 'bootstrap' }),
          q.gauge('sglang:num_prefill_inflight_queue_reqs', { as: 'in flight' }),
        ],
      ),
      lines(
        'Queues of the decode server',
        'preallocation: waiting for KV slots, because decode is full. transfer: receiving KV.',
        [
          q.gauge('sglang:num_decode_prealloc_queue_reqs', { as: 'preallocation' }),
          q.gauge('sglang:num_decode_transfer_queue_reqs', { as: 'transfer' }),
          q.gauge('sglang:num_decode_host_receive_queue_reqs', { as: 'receiving into host memory' }),
          q.gauge('sglang:num_decode_deferred_kv_release_reqs', { as: 'failed, KV still held' }),
        ],
      ),
      lines(
        'KV pool held before decoding',
        'Share of the pool that is reserved for requests whose KV has not arrived, and is not yet used for decoding.',
        [
          q.gauge('sglang:prealloc_full_token_usage', { as: 'full attention' }),
          q.gauge('sglang:prealloc_swa_token_usage', { as: 'sliding window' }),
        ],
        { max: 1 },
      ),
      lines(
        'KV transfer',
        'Handshake, wait for slots at the receiver, transfer: each is part of the time to first token.',
        [
          q.percentiles('sglang:kv_transfer_bootstrap_ms', [0.99], { as: 'handshake' }),
          q.percentiles('sglang:kv_transfer_alloc_ms', [0.99], { as: 'wait for slots' }),
          q.percentiles('sglang:kv_transfer_latency_ms', [0.5, 0.99], { as: 'transfer' }),
        ],
      ),
      lines('KV transfer speed', 'Per request. If it falls under load, the network is saturated.', [
        q.percentiles('sglang:kv_transfer_speed_gb_s', [0.5]),
      ]),
      lines('KV transfer size', 'Per request.', [q.percentiles('sglang:kv_transfer_total_mb', [0.5, 0.99])]),
      lines(
        'Requests lost and done again',
        'Failures in the handshake and in the transfer, and repeated prefills. If there are any, check the network and the other server.',
        [
          q.rate('sglang:num_bootstrap_failed_reqs_total', { as: 'handshake', unit: 'events' }),
          q.rate('sglang:num_transfer_failed_reqs_total', { as: 'transfer', unit: 'events' }),
          q.rate('sglang:num_prefill_retries_total', { as: 'prefill again', unit: 'events' }),
        ],
      ),
      lines('KV releases held back', 'By outcome, and requests received into host memory.', [
        q.rate('sglang:decode_deferred_kv_release_total', { by: ['outcome'], as: '', unit: 'events' }),
        q.rate('sglang:num_decode_host_receive_reqs_total', { as: 'received into host memory', unit: 'events' }),
      ]),
      lines('KV holding time', 'Time for which the memory was not available to other requests.', [
        q.percentiles('sglang:decode_deferred_kv_release_seconds', [0.99]),
      ]),
    ]),
  ];
}

/** The gateway before SGLang (smg, in-tree or standalone): its metrics have a port of their own. */
export function sglangGatewayRows(): RowSpec[] {
  const q = new ServerQueries({ systems: ['smg'], exporter: 'gateway' });
  return [
    detailsRow(12, 'Gateway: requests', [
      lines(
        'Requests',
        'Requests from clients, routed to a worker, and sent to a worker. If more are sent than routed, the gateway retries.',
        [
          q.rate('smg_http_requests_total', { as: 'from clients' }),
          q.rate('smg_router_requests_total', { as: 'routed' }),
          q.rate('smg_worker_requests_total', { as: 'sent' }),
        ],
      ),
      lines(
        'Answers by status',
        '499: the client disconnected, possibly before the end of a stream. 5xx: failures. 429, 503: rejected because of load.',
        [q.rate('smg_http_responses_total', { by: ['status_code'], as: '' })],
      ),
      lines(
        'Time at the gateway',
        'Time until the response headers, not until the end of a stream. The bucket bounds differ between releases.',
        [q.percentiles('smg_router_request_duration_seconds', [0.5, 0.99])],
      ),
      lines('Requests held', 'Requests that occupy a slot of the gateway now.', [
        q.gauge('smg_admission_inflight', { as: 'admitted' }),
      ]),
      lines('Shed', 'Requests rejected because every worker of the model was overloaded.', [
        q.rate('smg_worker_overload_shed_total', { by: ['stage'], as: '' }),
      ]),
      lines('Sent again', 'Requests sent again after the connection to a worker failed.', [
        q.rate('smg_router_upstream_send_retries_total', { as: 'sent again' }),
      ]),
    ]),
    detailsRow(13, 'Gateway: workers and cache-aware routing', [
      lines(
        'Requests by worker',
        'Requests in progress. If they are uneven, the policy favors the cache over the load.',
        [q.gauge('smg_worker_requests_active', { by: ['worker'], as: '' })],
      ),
      lines('Worker health', '1 healthy, 0 not, -1 removed.', [
        q.gauge('smg_worker_health', { by: ['worker'], as: '' }),
      ]),
      lines('Selections by policy', 'Workers chosen per second.', [
        q.rate('smg_worker_selection_total', { by: ['policy'], as: '' }),
      ]),
      lines(
        'Branch of the cache-aware policy',
        'tree_match: sent to the worker that has the prefix. spill: sent elsewhere, because that worker was too busy.',
        [q.rate('smg_cache_aware_policy_branch_total', { by: ['branch'], as: '' })],
      ),
      lines(
        'Prefix match',
        'Matched length ÷ input length at the best worker: what cache-aware routing can save.',
        [q.mean('smg_cache_aware_match_ratio', { as: 'mean' })],
        { max: 1 },
      ),
    ]),
  ];
}
