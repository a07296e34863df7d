import type { EngineEvent, KvTrafficEvent, RequestProgress } from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import { KV_BYTES_PER_TOKEN } from '../kv-bytes.ts';
import type { Labels } from '../metrics/family.ts';
import type { Histogram, Scalar } from '../metrics/family.ts';
import type { VllmFamilies } from './families.ts';

const STORE_BYTES_PER_SECOND = 20 * 2 ** 30;
const LOOKUP_SECONDS = 8e-6;
const LOOKUP_SECONDS_PER_BLOCK = 0.4e-6;

/** One direction: the families that vLLM has for it now, and the older ones for both. */
interface Direction {
  readonly bytes: readonly Scalar[];
  readonly seconds: readonly Scalar[];
  readonly sizes: readonly Histogram[];
}

/** On the page at 0: the tiers take all that they are given. */
const ZERO_COUNTERS = ['stores_skipped_total', 'allocation_failure_total'];

/** What vLLM's offloading connector counts: what leaves the device is stored, and comes back for a prompt that needs it. */
export class VllmOffloadMetrics {
  readonly #parameters: EngineParameters;
  readonly #load: Direction;
  readonly #store: Direction;
  readonly #lookup: Histogram;
  readonly #deferredLookup: Histogram;
  readonly #cpuCacheUsage: Scalar;

  constructor(families: VllmFamilies, labels: Labels, parameters: EngineParameters) {
    const nameOf = (name: string): string => `vllm:kv_offload_${name}`;
    const direction = (name: string, type: string): Direction => {
      const both = { ...labels, transfer_type: type };
      const counters = (quantity: string): Scalar[] => [
        families.counter(nameOf(`${name}_${quantity}_total`)).series(labels),
        families.counter(nameOf(`total_${quantity}_total`)).series(both),
      ];
      return {
        bytes: counters('bytes'),
        seconds: counters('time'),
        sizes: [
          families.histogram(nameOf(`${name}_size`)).series(labels),
          families.histogram(nameOf('size')).series(both),
        ],
      };
    };
    this.#parameters = parameters;
    this.#load = direction('load', 'CPU_to_GPU');
    this.#store = direction('store', 'GPU_to_CPU');
    this.#lookup = families.histogram(nameOf('lookup_sync_delay_seconds')).series(labels);
    this.#deferredLookup = families.histogram(nameOf('lookup_async_delay_seconds')).series(labels);
    this.#cpuCacheUsage = families.gauge(nameOf('cpu_cache_usage_perc')).series(labels);
    for (const name of ZERO_COUNTERS) families.counter(nameOf(name)).series(labels);
  }

  observe(event: EngineEvent): void {
    if (event.kind === 'kv-traffic') this.#moved(event);
    else if (event.kind === 'scheduled' && !event.resumed) this.#lookedUp(event.request);
    // The step waits for what is loaded, and takes longer than what is stored.
    else if (event.kind === 'step') this.#cpuCacheUsage.value = 0;
  }

  #moved({ stored: [stored = 0], loaded }: KvTrafficEvent): void {
    const total = loaded.reduce((sum, blocks) => sum + blocks, 0);
    this.#transfer(this.#load, total, this.#loadSeconds(loaded));
    this.#transfer(this.#store, stored, this.#bytes(stored) / STORE_BYTES_PER_SECOND);
    const [cpu] = this.#parameters.offloadTiers;
    this.#cpuCacheUsage.value = Math.min(1, (total + stored) / (cpu?.blocks ?? Infinity));
  }

  #transfer({ bytes, seconds, sizes }: Direction, blocks: number, duration_s: number): void {
    if (blocks === 0) return;
    for (const counter of bytes) counter.add(this.#bytes(blocks));
    for (const counter of seconds) counter.add(duration_s);
    for (const histogram of sizes) histogram.observe(this.#bytes(blocks));
  }

  #lookedUp({ promptTokens, cachedTokens, offloadedTokens }: RequestProgress): void {
    const { blockSize } = this.#parameters;
    const offloaded = offloadedTokens.reduce((sum, tokens) => sum + tokens, 0);
    const blocks = Math.floor((promptTokens - cachedTokens + offloaded) / blockSize);
    this.#lookup.observe(LOOKUP_SECONDS + blocks * LOOKUP_SECONDS_PER_BLOCK);
    if (offloaded === 0) return;
    // A prompt that is found is resolved when its blocks are there.
    this.#deferredLookup.observe(this.#loadSeconds(offloadedTokens.map((tokens) => tokens / blockSize)));
  }

  #loadSeconds(blocks: readonly number[]): number {
    return this.#parameters.offloadTiers.reduce(
      (sum, { loadMillisecondsPerBlock }, tier) => sum + ((blocks[tier] ?? 0) * loadMillisecondsPerBlock) / 1000,
      0,
    );
  }

  #bytes(blocks: number): number {
    return blocks * this.#parameters.blockSize * KV_BYTES_PER_TOKEN;
  }
}
