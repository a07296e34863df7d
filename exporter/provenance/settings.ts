import type { SettingValue } from '../../core/run/provenance.ts';
import { factText } from './fact-text.ts';
import type { InfoSeries } from './info-series.ts';

/** What Python prints for a value that is not set. */
const NOT_SET: ReadonlySet<string> = new Set(['None', 'null', '']);

/**
 * The named members of a server's response. Servers report all of their options, keys included: what is not in the list
 * is never read.
 */
export function listedSettings(
  response: unknown,
  names: readonly string[],
  secrets: readonly string[],
): Record<string, SettingValue> {
  if (typeof response !== 'object' || response === null) return {};
  const found = names.flatMap((name) => {
    const value = Object.hasOwn(response, name)
      ? settingOf((response as Record<string, unknown>)[name], secrets)
      : null;
    return value === null ? [] : [[name, value] as const];
  });
  return Object.fromEntries(found);
}

function settingOf(value: unknown, secrets: readonly string[]): SettingValue | null {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  const text = factText(value, secrets);
  return text === null || NOT_SET.has(text) ? null : text;
}

/** Labels of the families by which engines report their configuration. */
const INFO_LABELS: Readonly<Record<string, readonly string[]>> = {
  'vllm:cache_config_info': [
    ...['block_size', 'cache_dtype', 'enable_prefix_caching', 'gpu_memory_utilization', 'kv_cache_size_tokens'],
    ...['kv_offloading_backend', 'kv_offloading_size', 'num_cpu_blocks', 'num_gpu_blocks', 'num_gpu_blocks_override'],
    ...['prefix_caching_hash_algo', 'sliding_window'],
  ],
  trtllm_model_config_info: ['dtype', 'quantization', 'max_model_len', 'gpu_type'],
  trtllm_parallel_config_info: [
    ...['tensor_parallel_size', 'pipeline_parallel_size', 'context_parallel_size', 'expert_parallel_size', 'gpu_count'],
  ],
  trtllm_speculative_config_info: ['spec_enabled', 'spec_method', 'spec_num_tokens'],
  trtllm_kv_cache_config_info: [
    ...['page_size', 'enable_block_reuse', 'enable_partial_reuse', 'free_gpu_memory_fraction', 'cache_dtype'],
  ],
};

/** What the engines' pages report; values that differ between engines are listed. */
export function pageSettings(
  series: readonly InfoSeries[],
  secrets: readonly string[],
): Readonly<Record<string, SettingValue>> {
  const values = new Map<string, Set<string>>();
  for (const { family, labels } of series) {
    const names = Object.hasOwn(INFO_LABELS, family) ? (INFO_LABELS[family] ?? []) : [];
    for (const [name, value] of Object.entries(listedSettings(labels, names, secrets)))
      values.set(name, (values.get(name) ?? new Set()).add(String(value)));
  }
  return Object.fromEntries([...values].map(([name, texts]) => [name, factText([...texts].join(' | ')) ?? '']));
}
