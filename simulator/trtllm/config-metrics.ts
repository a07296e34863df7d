import type { EngineParameters } from '../engine/parameters.ts';
import type { Labels } from '../metrics/family.ts';
import type { TrtllmFamilies } from './families.ts';
import { commonLabels } from './labels.ts';
import type { ProcessIds } from './labels.ts';

/** Sets the families that tell the configuration: labels as the server gives them, the value always 1. */
export function setConfiguration(
  families: TrtllmFamilies,
  modelName: string,
  { maxModelLen, blockSize, enablePrefixCaching, speculation }: EngineParameters,
  ids: ProcessIds,
): void {
  const set = (name: string, labels: Labels): void => {
    const all = { ...commonLabels(modelName), pid: ids.server, ...labels };
    families.gauge(`trtllm_${name}_config_info`).series(all).value = 1;
  };
  set('model', {
    model: modelName,
    served_model_name: modelName,
    dtype: 'auto',
    quantization: 'FP8',
    max_model_len: `${maxModelLen}`,
    gpu_type: 'NVIDIA H100 80GB HBM3',
  });
  set('parallel', {
    tensor_parallel_size: `${ids.ranks.length}`,
    pipeline_parallel_size: '1',
    context_parallel_size: '1',
    gpu_count: `${ids.ranks.length}`,
    expert_parallel_size: '1',
  });
  if (speculation !== null) {
    set('speculative', {
      spec_enabled: 'True',
      spec_method: 'Eagle3DecodingConfig',
      spec_num_tokens: `${speculation.draftTokens}`,
      spec_draft_model: `${modelName}-eagle3`,
    });
  }
  set('kv_cache', {
    page_size: `${blockSize}`,
    enable_block_reuse: enablePrefixCaching ? 'True' : 'False',
    enable_partial_reuse: 'False',
    free_gpu_memory_fraction: '0.9',
    cache_dtype: 'auto',
  });
}
