import type { EngineParameters } from '../engine/parameters.ts';
import { KV_BYTES_PER_TOKEN } from '../kv-bytes.ts';
import type { Labels } from '../metrics/family.ts';

/** vLLM keeps one block of its cache empty: it counts it here, and requests never get it. */
const NULL_BLOCKS = 1;

/** The labels of `vllm:cache_config_info`, each a field of the cache configuration as Python prints it. */
export function cacheConfigLabels({
  numKvBlocks,
  blockSize,
  maxModelLen,
  enablePrefixCaching,
}: EngineParameters): Labels {
  const blocks = numKvBlocks + NULL_BLOCKS;
  const tokens = blocks * blockSize;
  const concurrency = tokens / maxModelLen;
  return {
    _block_size_resolved: 'True',
    block_size: `${blockSize}`,
    cache_dtype: 'auto',
    cache_hit_alignment_tokens: 'None',
    effective_attention_block_size: `${blockSize}`,
    enable_mamba_shared_prefix_checkpoint: 'False',
    enable_prefix_caching: enablePrefixCaching ? 'True' : 'False',
    engine: '0',
    gpu_memory_utilization: '0.92',
    hash_block_size: 'None',
    is_attention_free: 'False',
    kv_cache_dtype_skip_layers: '[]',
    kv_cache_layout: 'None',
    kv_cache_max_concurrency: Number.isInteger(concurrency) ? `${concurrency}.0` : `${concurrency}`,
    kv_cache_memory_bytes: `${tokens * KV_BYTES_PER_TOKEN}`,
    kv_cache_size_tokens: `${tokens}`,
    kv_offloading_backend: 'native',
    kv_offloading_size: 'None',
    kv_sharing_fast_prefill: 'False',
    mamba_block_size: 'None',
    mamba_cache_dtype: 'auto',
    mamba_cache_mode: 'none',
    mamba_page_size_padded: 'None',
    mamba_ssm_cache_dtype: 'float32',
    num_cpu_blocks: 'None',
    num_gpu_blocks: `${blocks}`,
    num_gpu_blocks_override: 'None',
    prefix_cache_retention_interval: '0',
    prefix_caching_hash_algo: 'sha256',
    prefix_match_unit: 'None',
    replayssm_buffer_len: '16',
    skip_page_size_padded: 'None',
    sliding_window: 'None',
    swa_bounded_replay: 'True',
    use_kda_recoverssm: 'False',
    use_replayssm: 'False',
    user_specified_block_size: 'False',
  };
}
