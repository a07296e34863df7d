import { ScalarSeries, type Series } from '../series/series.ts';
import type { TargetStore } from '../series/target-store.ts';

/** Labels of the families that describe an engine's cache, which are its tokens of a block. */
const LABELS: ReadonlyMap<string, string> = new Map([
  ['vllm:cache_config_info', 'block_size'],
  ['trtllm_kv_cache_config_info', 'page_size'],
]);
/** Gauges; Dynamo's is of the frontend, from what its workers registered. */
const GAUGES: ReadonlySet<string> = new Set(['dynamo_frontend_model_kv_cache_block_size', 'sglang:page_size']);

/** The largest block of the servers' prefix caches, in tokens; null when none reports one. */
export function cacheBlockTokens(stores: readonly TargetStore[]): number | null {
  const sizes = stores.flatMap(({ series }) => series.map(blockTokens)).filter((size) => size > 0);
  return sizes.length === 0 ? null : Math.max(...sizes);
}

/** NaN: the series does not report it. */
function blockTokens(series: Series): number {
  const { family, labels } = series;
  if (GAUGES.has(family.name) && series instanceof ScalarSeries) return series.value(series.changes - 1);
  return Number(labels[LABELS.get(family.name) ?? '']);
}
