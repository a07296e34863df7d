import type { EngineEvent, KvTrafficEvent } from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import { KV_BYTES_PER_TOKEN } from '../kv-bytes.ts';
import type { SglangFamilies } from './families.ts';
import { CACHE_LABELS, STORAGE_LABELS } from './labels.ts';

const BYTES_PER_GIB = 2 ** 30;
const SECONDS_PER_EVICTED_BLOCK = 20e-6;
const EVICTION_SECONDS = 0.5e-3;
const WRITE_GIB_PER_SECOND = 2;

/** What SGLang counts of its hierarchical cache: the device, then host memory, then a storage backend. */
export class SglangCacheMetrics {
  readonly #families: SglangFamilies;
  readonly #parameters: EngineParameters;

  constructor(families: SglangFamilies, parameters: EngineParameters) {
    this.#families = families;
    this.#parameters = parameters;
    for (const name of ['storage_prefetch_unfulfilled_tokens_total', 'storage_prefetch_deferred_tokens_total']) {
      for (const reason of families.labelValues(`sglang:${name}`, 'reason')) {
        families.counter(`sglang:${name}`).series({ ...STORAGE_LABELS, reason });
      }
    }
  }

  observe(event: EngineEvent): void {
    if (event.kind !== 'kv-traffic') return;
    if (event.evicted > 0) this.#evicted(event.evicted);
    this.#loaded(event);
    const [, toStorage = 0] = event.stored;
    const [, fromStorage = 0] = event.loaded;
    if (toStorage > 0) this.#backedUp(toStorage);
    if (fromStorage > 0) this.#prefetched(fromStorage);
  }

  #evicted(blocks: number): void {
    this.#families
      .histogram('sglang:eviction_duration_seconds')
      .series(CACHE_LABELS)
      .observe(EVICTION_SECONDS + blocks * SECONDS_PER_EVICTED_BLOCK);
    this.#families.counter('sglang:evicted_tokens_total').series(CACHE_LABELS).add(this.#tokens(blocks));
  }

  #loaded({ loaded }: KvTrafficEvent): void {
    const blocks = loaded.reduce((sum, n) => sum + n, 0);
    if (blocks === 0) return;
    const seconds = loaded.reduce((sum, n, tier) => sum + n * this.#loadSeconds(tier), 0);
    this.#families.histogram('sglang:load_back_duration_seconds').series(CACHE_LABELS).observe(seconds);
    const labels = { ...CACHE_LABELS, pool: 'kv' };
    this.#families.counter('sglang:load_back_tokens_total').series(labels).add(this.#tokens(blocks));
  }

  #backedUp(blocks: number): void {
    this.#families.counter('sglang:backuped_tokens_total').series(STORAGE_LABELS).add(this.#tokens(blocks));
    this.#families.histogram('sglang:backup_pgs').series(STORAGE_LABELS).observe(blocks);
    this.#families.histogram('sglang:backup_bandwidth').series(STORAGE_LABELS).observe(WRITE_GIB_PER_SECOND);
  }

  #prefetched(blocks: number): void {
    const tokens = this.#tokens(blocks);
    this.#families.counter('sglang:storage_prefetch_hit_tokens_total').series(STORAGE_LABELS).add(tokens);
    this.#families.counter('sglang:prefetched_tokens_total').series(STORAGE_LABELS).add(tokens);
    this.#families.histogram('sglang:prefetch_pgs').series(STORAGE_LABELS).observe(blocks);
    const blockGib = (this.#parameters.blockSize * KV_BYTES_PER_TOKEN) / BYTES_PER_GIB;
    const seconds = this.#loadSeconds(1);
    if (seconds > 0) {
      this.#families
        .histogram('sglang:prefetch_bandwidth')
        .series(STORAGE_LABELS)
        .observe(blockGib / seconds);
    }
  }

  #tokens(blocks: number): number {
    return blocks * this.#parameters.blockSize;
  }

  #loadSeconds(tier: number): number {
    return (this.#parameters.offloadTiers[tier]?.loadMillisecondsPerBlock ?? 0) / 1000;
  }
}
