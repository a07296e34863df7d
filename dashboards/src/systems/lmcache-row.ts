import { detailsRow, lines, type RowSpec } from '../server/panel-spec.ts';
import { ServerQueries } from '../server/server-queries.ts';

/** LMCache inside an engine's process (`lmcache:` on the engine's own page). Every worker counts the same tokens. */
export function lmcacheRow(id: number): RowSpec {
  const q = new ServerQueries({ systems: ['lmcache'], replicas: { labels: ['worker_id'], apart: [] } });
  return detailsRow(id, 'LMCache', [
    lines(
      'Hit ratio',
      'Tokens found ÷ tokens requested, from counters; the gauges of LMCache itself read 0 or 1 without traffic. Low: prompts share no prefix, or the tiers are too small.',
      [
        q.ratio('lmcache:num_lookup_hits_total', 'lmcache:num_lookup_tokens_total', { as: 'lookup' }),
        q.ratio('lmcache:num_hit_tokens_total', 'lmcache:num_requested_tokens_total', { as: 'retrieve' }),
      ],
      { max: 1 },
    ),
    lines(
      'Tokens',
      'Tokens looked up, delivered and stored. Stored far above delivered: the cache is filled but not used.',
      [
        q.rate('lmcache:num_lookup_tokens_total', { as: 'looked up' }),
        q.rate('lmcache:num_hit_tokens_total', { as: 'delivered' }),
        q.rate('lmcache:num_stored_tokens_total', { as: 'stored' }),
        q.rate('lmcache:num_vllm_hit_tokens_total', { as: "already in the engine's cache" }),
      ],
    ),
    lines('Requests', 'Calls by the engine. A lookup without a hit costs time and saves none.', [
      q.rate('lmcache:num_lookup_requests_total', { as: 'lookup' }),
      q.rate('lmcache:lookup_0_hit_requests_total', { as: 'lookup without a hit' }),
      q.rate('lmcache:num_retrieve_requests_total', { as: 'retrieve' }),
      q.rate('lmcache:num_store_requests_total', { as: 'store' }),
    ]),
    lines(
      'Time to look up, retrieve and store',
      'A retrieve must be faster than computing the same tokens again; otherwise the cache costs more than it saves.',
      [
        q.percentiles('lmcache:time_to_lookup', [0.99], { as: 'lookup' }),
        q.percentiles('lmcache:time_to_retrieve', [0.99], { as: 'retrieve' }),
        q.percentiles('lmcache:time_to_store', [0.99], { as: 'store' }),
      ],
    ),
    lines('Speed', 'Tokens per second of retrieves and stores. If the speed falls at equal sizes, a tier is slow.', [
      q.percentiles('lmcache:retrieve_speed', [0.5], { as: 'retrieve' }),
      q.percentiles('lmcache:store_speed', [0.5], { as: 'store' }),
    ]),
    lines('Memory in use', 'CPU memory, local disk and remote storage that cached tokens take.', [
      q.gauge('lmcache:local_cache_usage', { as: 'CPU' }),
      q.gauge('lmcache:local_storage_usage', { as: 'disk' }),
      q.gauge('lmcache:remote_cache_usage', { as: 'remote' }),
    ]),
    lines(
      'Evictions',
      'Keys removed to make room for others. Many evictions and a low hit ratio mean that the CPU tier is too small.',
      [q.rate('lmcache:local_cpu_evict_keys_count_total', { as: 'keys evicted' })],
    ),
    lines('Remote traffic', 'Bytes from and to the remote store.', [
      q.rate('lmcache:num_remote_read_bytes_total', { as: 'read' }),
      q.rate('lmcache:num_remote_write_bytes_total', { as: 'written' }),
    ]),
    lines(
      'Trouble',
      'Failed evictions and slow retrievals. Values above 0 explain latency that the metrics of the engine do not show.',
      [
        q.rate('lmcache:local_cpu_evict_failed_count_total', { as: 'evictions failed', unit: 'events' }),
        q.rate('lmcache:num_slow_retrieval_by_time_total', { as: 'slow retrieval', unit: 'events' }),
        q.rate('lmcache:forced_unpin_count_total', { as: 'forced unpin', unit: 'events' }),
      ],
    ),
  ]);
}
