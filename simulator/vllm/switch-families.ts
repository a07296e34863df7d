import { loadCatalog } from '../../catalog/load.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import type { PageEntries } from '../metrics/page-families.ts';

/** Shown with `--speculative-config`. */
const SPECULATION = /^vllm:spec_decode_num_(drafts|draft_tokens|accepted_tokens|accepted_tokens_per_pos)_total$/;

/** Shown with `--kv-offloading-size` and CPU memory behind the device. */
const OFFLOADING =
  /^vllm:kv_offload_((load|store|total)_(bytes|time)_total|(load_|store_)?size|lookup_a?sync_delay_seconds|stores_skipped_total|allocation_failure_total|cpu_cache_usage_perc)$/;

/** Shown with the NIXL connector, `--kv-cache-metrics`, `--enable-lora` and `VLLM_COMPUTE_NANS_IN_LOGITS=1`. */
const OTHERS =
  /^vllm:(nixl_(xfer_time_seconds|post_time_seconds|bytes_transferred|num_descriptors|num_failed_(transfers|notifications)_total)|kv_block_(lifetime|idle_before_evict|reuse_gap)_seconds|lora_requests_info|corrupted_requests_total)$/;

/** The families that vLLM shows with a switch only, for an engine that uses what they tell of. HELP is the catalog's. */
export function switchFamilies({ speculation, offloadTiers }: EngineParameters): PageEntries {
  const shown = [OTHERS];
  if (speculation !== null) shown.push(SPECULATION);
  if (offloadTiers.length > 0) shown.push(OFFLOADING);
  return loadCatalog('vllm')
    .families.filter(({ name }) => shown.some((names) => names.test(name)))
    .map(({ name, help }) => [name, help] as const);
}
