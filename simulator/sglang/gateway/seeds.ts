import type { GatewayFamilies } from './families.ts';

/** Counters with one label whose values are all on the page at 0 from the start. */
const SEEDED: readonly (readonly [name: string, label: string])[] = [
  ['worker_overload_shed_total', 'stage'],
  ['worker_overload_fallback_total', 'stage'],
  ['worker_liveness_fallback_total', 'stage'],
  ['tokenizer_cache_reused_bytes_total', 'layer'],
  ['tokenizer_cache_evictions_total', 'layer'],
  ['tokenizer_encode_path_loads_total', 'path'],
  ['tokenizer_encode_fallbacks_total', 'reason'],
  ['detokenize_prefix_mismatch_total', 'kind'],
];

const WORKER_TYPES = ['regular', 'prefill', 'decode'];

/** Puts what smg shows at 0 before anything has happened onto the page. */
export function seed(families: GatewayFamilies): void {
  for (const [name, label] of SEEDED) {
    for (const value of families.labelValues(`smg_${name}`, label)) {
      families.counter(`smg_${name}`).series({ [label]: value });
    }
  }
  for (const layer of families.labelValues('smg_tokenizer_cache_lookups_total', 'layer')) {
    for (const result of ['miss', 'hit']) {
      families.counter('smg_tokenizer_cache_lookups_total').series({ layer, result });
    }
  }
  for (const name of ['worker_retries_total', 'worker_retries_exhausted_total']) {
    for (const worker_type of WORKER_TYPES) {
      for (const endpoint of families.labelValues(`smg_${name}`, 'endpoint')) {
        families.counter(`smg_${name}`).series({ worker_type, endpoint });
      }
    }
  }
  families.histogram('smg_worker_retry_backoff_seconds').series({ attempt: '1' });
  for (const kind of families.labelValues('smg_history_memory_records', 'kind')) {
    families.gauge('smg_history_memory_records').series({ kind });
  }
  for (const sink of families.labelValues('smg_log_dropped_lines', 'sink')) {
    families.gauge('smg_log_dropped_lines').series({ sink });
  }
}
