import type { EngineState, EngineEvent, KvTrafficEvent, RequestProgress, TokenEvent } from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import { KV_BYTES_PER_TOKEN } from '../kv-bytes.ts';
import { PageFamilies } from '../metrics/page-families.ts';
import { FORMATS, writePage } from '../metrics/write-page.ts';
import type { Histogram, Scalar } from '../metrics/family.ts';
import { LMCACHE_PAGE } from './page.ts';

const SECONDS_PER_NANOSECOND = 1e-9;
/** The collector's log interval: what the two gauges of hit rates cover. */
const INTERVAL_SECONDS = 10;
/** Tokens of a chunk, the smallest thing that is looked up and stored. */
const CHUNK_TOKENS = 256;
const LOOKUP_SECONDS = 0.0008;
const LOOKUP_SECONDS_PER_TOKEN = 0.5e-6;
const STORE_SECONDS = 0.003;
const STORE_TOKENS_PER_SECOND = 250_000;
const LOAD_SECONDS = 0.001;
const MILLISECONDS_PER_SECOND = 1000;

/**
 * What the in-process connector of LMCache 0.5.6 counts, with the engine's first offload tier as its local CPU backend.
 * A lookup is every prompt that is scheduled; it hits what is on the device as well, since that was stored too. A
 * retrieval is what had to be brought back; a store is what a prompt has beyond its hits, in whole chunks.
 */
export class LmcacheMetrics {
  readonly #families = new PageFamilies({ catalogs: ['lmcache'], entries: LMCACHE_PAGE });
  readonly #parameters: EngineParameters;
  readonly #counter: (name: string) => Scalar;
  readonly #gauge: (name: string) => Scalar;
  readonly #histogram: (name: string) => Histogram;
  #intervalEnd_s = INTERVAL_SECONDS;
  #interval = { lookedUp: 0, found: 0, requested: 0, retrieved: 0 };

  constructor(modelName: string, parameters: EngineParameters) {
    this.#parameters = parameters;
    const labels = { model_name: modelName, role: 'worker', served_model_name: modelName, worker_id: '0' };
    this.#counter = (name) => this.#families.counter(`lmcache:${name}_total`).series(labels);
    this.#gauge = (name) => this.#families.gauge(`lmcache:${name}`).series(labels);
    this.#histogram = (name) => this.#families.histogram(`lmcache:${name}`).series(labels);
    for (const { name, type } of this.#families.all()) {
      if (type === 'counter') this.#families.counter(name).series(labels);
      else if (type === 'histogram') this.#families.histogram(name).series(labels);
    }
    for (const name of GAUGES) this.#gauge(name);
    this.#gauge('lmcache_is_healthy').value = 1;
    this.#closeInterval();
  }

  observe(events: readonly EngineEvent[]): void {
    for (const event of events) {
      if (event.kind === 'scheduled' && !event.resumed) this.#lookedUp(event.request);
      else if (event.kind === 'token' && event.index === 0) this.#prefilled(event);
      else if (event.kind === 'kv-traffic') this.#moved(event);
    }
  }

  /** Sets the gauges to the state of the engine. */
  update({ now_ns, offloadedBlocks }: EngineState): void {
    const bytesPerBlock = this.#parameters.blockSize * KV_BYTES_PER_TOKEN;
    this.#gauge('local_cache_usage').value = (offloadedBlocks[0] ?? 0) * bytesPerBlock;
    this.#gauge('local_storage_usage').value = (offloadedBlocks[1] ?? 0) * bytesPerBlock;
    const hotTokens = (offloadedBlocks[0] ?? 0) * this.#parameters.blockSize;
    this.#gauge('local_cpu_hot_cache_count').value = Math.ceil(hotTokens / CHUNK_TOKENS);
    const now_s = now_ns * SECONDS_PER_NANOSECOND;
    if (now_s < this.#intervalEnd_s) return;
    this.#intervalEnd_s = now_s + INTERVAL_SECONDS;
    this.#closeInterval();
  }

  /** As the Python client writes it for several processes: without creation times. */
  page(): string {
    return writePage(this.#families.all(), FORMATS.LMCACHE);
  }

  #lookedUp({ promptTokens, cachedTokens, offloadedTokens }: RequestProgress): void {
    const loaded = offloadedTokens[0] ?? 0;
    this.#counter('num_lookup_requests').add(1);
    this.#counter('num_lookup_tokens').add(promptTokens);
    this.#counter('num_lookup_hits').add(cachedTokens);
    this.#counter('num_prompt_tokens').add(promptTokens);
    this.#counter('num_vllm_hit_tokens').add(cachedTokens - loaded);
    this.#histogram('time_to_lookup').observe(LOOKUP_SECONDS + promptTokens * LOOKUP_SECONDS_PER_TOKEN);
    if (cachedTokens === 0) this.#counter('lookup_0_hit_requests').add(1);
    else this.#histogram('request_cache_hit_rate').observe(cachedTokens / promptTokens);
    this.#interval.lookedUp += promptTokens;
    this.#interval.found += cachedTokens;
    if (loaded > 0) this.#retrieved(loaded);
  }

  #retrieved(tokens: number): void {
    const { offloadTiers, blockSize } = this.#parameters;
    const perBlock_ms = offloadTiers[0]?.loadMillisecondsPerBlock ?? 0;
    const seconds = LOAD_SECONDS + ((tokens / blockSize) * perBlock_ms) / MILLISECONDS_PER_SECOND;
    this.#counter('num_retrieve_requests').add(1);
    this.#counter('num_requested_tokens').add(tokens);
    this.#counter('num_hit_tokens').add(tokens);
    this.#histogram('time_to_retrieve').observe(seconds);
    this.#histogram('retrieve_speed').observe(tokens / seconds);
    this.#interval.requested += tokens;
    this.#interval.retrieved += tokens;
  }

  #prefilled({ request: { promptTokens, cachedTokens } }: TokenEvent): void {
    const chunks = Math.floor(promptTokens / CHUNK_TOKENS) - Math.floor(cachedTokens / CHUNK_TOKENS);
    if (chunks <= 0) return;
    const tokens = chunks * CHUNK_TOKENS;
    const seconds = STORE_SECONDS + tokens / STORE_TOKENS_PER_SECOND;
    this.#counter('num_store_requests').add(1);
    this.#counter('num_stored_tokens').add(tokens);
    this.#histogram('time_to_store').observe(seconds);
    this.#histogram('store_speed').observe(tokens / seconds);
  }

  #moved({ dropped }: KvTrafficEvent): void {
    if (dropped === 0) return;
    this.#counter('local_cpu_evict_count').add(1);
    this.#counter('local_cpu_evict_keys_count').add(dropped);
  }

  /** Without traffic the one reads 0 and the other 1. */
  #closeInterval(): void {
    const { lookedUp, found, requested, retrieved } = this.#interval;
    this.#gauge('lookup_hit_rate').value = lookedUp === 0 ? 0 : found / lookedUp;
    this.#gauge('retrieve_hit_rate').value = requested === 0 ? 1 : retrieved / requested;
    this.#interval = { lookedUp: 0, found: 0, requested: 0, retrieved: 0 };
  }
}

/** Those that have a series; the others wait for parts of LMCache that are not in use, and have their header only. */
const GAUGES = [
  'local_cpu_hot_cache_count',
  'retrieve_hit_rate',
  'lookup_hit_rate',
  'remote_ping_latency',
  'remote_ping_error_code',
  'storage_events_ongoing_count',
  'storage_events_done_count',
  'storage_events_not_found_count',
  'local_cache_usage',
  'remote_cache_usage',
  'local_storage_usage',
  'active_memory_objs_count',
  'pinned_memory_objs_count',
];
