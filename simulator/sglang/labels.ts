import type { Labels } from '../metrics/family.ts';

/** Of the families that the tokenizer process writes. */
export function tokenizerLabels(modelName: string): Labels {
  return { model_name: modelName, engine_type: 'unified' };
}

/** Of the families that the scheduler process writes. */
export function schedulerLabels(modelName: string): Labels {
  return { ...tokenizerLabels(modelName), tp_rank: '0', pp_rank: '0', moe_ep_rank: '0' };
}

/** Of the families of the prefix cache, which know no model. */
export const CACHE_LABELS: Labels = { cache_type: 'HiRadixCache' };

/** Of the families of the cache's storage backend, which know no model either. */
export const STORAGE_LABELS: Labels = {
  storage_backend: 'file',
  tp_rank: '0',
  dp_rank: '0',
  pp_rank: '0',
  pp_size: '1',
  attn_cp_rank: '0',
  attn_cp_size: '1',
};
