import { detailsRow, lines, number, type RowSpec } from '../server/panel-spec.ts';
import { ServerQueries } from '../server/server-queries.ts';
import type { Choice } from '../variables.ts';

/** The exporters of GPU metrics have a job and addresses of their own. */
export const GPU_EXPORTER: Choice = {
  name: 'gpu_exporter',
  label: 'GPU exporter',
  description: 'Addresses of the DCGM exporters on the hosts of the servers; all unless some are chosen',
  family: 'DCGM_FI_DEV_GPU_UTIL',
  of: 'instance',
};

const APART = { by: ['gpu'] };

/** What the GPUs did: DCGM exporter. `outputTokens` is the counter of the servers' output tokens, with its selector. */
export function gpuRow(id: number, outputTokens: string): RowSpec {
  const q = new ServerQueries({ systems: ['dcgm'], exporter: 'gpu_exporter' });
  const energy = `sum(increase(${q.selector('DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION')}[$__range])) / 1000`;
  return detailsRow(id, 'GPU (DCGM exporter)', [
    lines(
      'GPU utilization',
      'Share of the time in which any kernel ran. A high value means busy, not efficient; compare it with the tensor cores.',
      [q.gauge('DCGM_FI_DEV_GPU_UTIL', { ...APART, as: 'kernel ran' })],
      { max: 100 },
    ),
    lines(
      'Tensor cores and memory',
      'If the tensor cores are low and the memory is high, decoding is limited by memory bandwidth, and a larger batch costs almost nothing. If the tensor cores are high, prefill is limited by compute.',
      [
        q.gauge('DCGM_FI_PROF_PIPE_TENSOR_ACTIVE', { ...APART, as: 'tensor' }),
        q.gauge('DCGM_FI_PROF_DRAM_ACTIVE', { ...APART, as: 'memory' }),
        q.gauge('DCGM_FI_PROF_GR_ENGINE_ACTIVE', { ...APART, as: 'engine' }),
      ],
      { max: 1 },
    ),
    lines(
      'GPU memory',
      'Weights, KV cache and activations. Servers reserve most of it at their start, so a full GPU is normal; growth afterwards is not.',
      [
        q.gauge('DCGM_FI_DEV_FB_USED', { ...APART, as: 'used' }),
        q.gauge('DCGM_FI_DEV_FB_FREE', { ...APART, as: 'free' }),
      ],
    ),
    lines(
      'Power',
      'Board power. At the power limit, clocks fall and latencies rise. Compare only runs with equal power limits.',
      [q.gauge('DCGM_FI_DEV_POWER_USAGE', { ...APART, as: 'power' })],
    ),
    lines(
      'Temperature',
      'Near its temperature limit, the GPU lowers its clocks. Check the cooling first if a server becomes slow.',
      [
        q.gauge('DCGM_FI_DEV_GPU_TEMP', { ...APART, as: 'GPU' }),
        q.gauge('DCGM_FI_DEV_MEMORY_TEMP', { ...APART, as: 'memory' }),
      ],
    ),
    lines('Clock', 'A clock that falls under load indicates a power or temperature limit.', [
      q.highest('DCGM_FI_DEV_SM_CLOCK', { ...APART, as: 'SM' }),
      q.highest('DCGM_FI_DEV_MEM_CLOCK', { ...APART, as: 'memory' }),
    ]),
    number(
      'Energy per output token',
      'Energy of the chosen GPUs ÷ output tokens of the chosen servers, in the time range, idle time included. Choose the GPUs that belong to the servers.',
      [
        q.custom(
          `${energy} / sum(increase(${outputTokens}[$__range]))`,
          ['DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION'],
          { unit: 'joule' },
          'energy per token',
        ),
      ],
    ),
    lines(
      'Last XID error',
      'Code of the last error that the driver reported; 0 means none. With any other code, do not trust the run, and look the code up in the documentation of NVIDIA.',
      [q.highest('DCGM_FI_DEV_XID_ERRORS', { ...APART, as: 'XID' })],
    ),
  ]);
}

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
