import type { BlockTotals } from '../engine/blocks.ts';
import type { EngineState, EngineEvent, KvTrafficEvent, RequestProgress } from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import { PageFamilies } from '../metrics/page-families.ts';
import { rustPage } from '../metrics/rust-page.ts';
import type { Scalar } from '../metrics/series.ts';
import { HitWindow } from './hit-window.ts';
import { KVBM_PAGE, KVBM_RACES } from './page.ts';

const HOST = 0;
const DISK = 1;
const DEVICE_POOL = 'G1';
const HOST_POOL = 'G2';
const INSTANCE = { instance_id: 'simulated-0', worker_id: '0' };

/** What the collector of the logical pools says of one pool. */
interface PoolFigures {
  readonly allocations: number;
  readonly evictions: number;
  readonly registrations: number;
  readonly dedup: number;
  readonly matchRequested: number;
  readonly matchReturned: number;
  readonly mutable: number;
  readonly immutable: number;
  readonly reset: number;
  readonly inactive: number;
}

/**
 * What KVBM counts, with the engine's KV cache as its device pool (G1), and the first two offload tiers as host (G2)
 * and disk. In `offload`, d2h is device to host and h2d host to disk; in `onboard`, h2d is host to device and d2d disk
 * to device. There is no object storage, and nothing goes around the host.
 */
export class KvbmMetrics {
  readonly #families = new PageFamilies({ catalogs: ['kvbm'], entries: [...KVBM_PAGE, ...KVBM_RACES] });
  readonly #parameters: EngineParameters;
  readonly #totals: () => BlockTotals;
  readonly #window = new HitWindow();
  #evictedFromDevice = 0;
  #storedOnHost = 0;
  #deviceQueried = 0;
  #deviceFound = 0;
  #hostQueried = 0;
  #hostFound = 0;

  /** @param totals what the KV cache of the device has done so far */
  constructor(parameters: EngineParameters, totals: () => BlockTotals) {
    this.#parameters = parameters;
    this.#totals = totals;
    for (const { name, type } of this.#families.all()) {
      if (name.endsWith('_total') || type === 'gauge') continue;
      this.#families.counter(name).series();
    }
    for (const [name] of KVBM_RACES) {
      for (const pool of [DEVICE_POOL, HOST_POOL]) this.#families.counter(name).series({ pool, ...INSTANCE });
    }
  }

  observe(events: readonly EngineEvent[]): void {
    for (const event of events) {
      if (event.kind === 'kv-traffic') this.#moved(event);
      else if (event.kind === 'scheduled' && !event.resumed) this.#matched(event.request);
    }
  }

  page(state: EngineState): string {
    for (const [tier, name] of [
      [HOST, 'host'],
      [DISK, 'disk'],
      [DISK + 1, 'object'],
    ] as const) {
      this.#families.gauge(`kvbm_${name}_cache_hit_rate`).series().value = this.#window.rate(tier);
    }
    this.#setPool(DEVICE_POOL, this.#device(state));
    this.#setPool(HOST_POOL, this.#host(state));
    return rustPage(this.#families.all());
  }

  #moved({ evicted, stored, loaded }: KvTrafficEvent): void {
    this.#evictedFromDevice += evicted;
    this.#storedOnHost += stored[HOST] ?? 0;
    this.#counter('offload_blocks_d2h').add(stored[HOST] ?? 0);
    this.#counter('offload_blocks_h2d').add(stored[DISK] ?? 0);
    this.#counter('onboard_blocks_h2d').add(loaded[HOST] ?? 0);
    this.#counter('onboard_blocks_d2d').add(loaded[DISK] ?? 0);
  }

  #matched({ promptTokens, cachedTokens, offloadedTokens }: RequestProgress): void {
    const { blockSize } = this.#parameters;
    const matchedTokens = offloadedTokens.reduce((sum, tokens) => sum + tokens, 0);
    const found = offloadedTokens.map((tokens) => tokens / blockSize);
    const onDevice = (cachedTokens - matchedTokens) / blockSize;
    const blocks = Math.floor(promptTokens / blockSize);
    this.#counter('matched_tokens').add(matchedTokens);
    this.#window.add({ queried: blocks - onDevice, found });
    this.#deviceQueried += blocks;
    this.#deviceFound += onDevice;
    this.#hostQueried += blocks - onDevice;
    this.#hostFound += found[HOST] ?? 0;
  }

  #device({ usedKvBlocks, numKvBlocks, cachedKvBlocks }: EngineState): PoolFigures {
    const { allocated, registered, duplicates } = this.#totals();
    const immutable = registered - this.#evictedFromDevice - cachedKvBlocks;
    return {
      allocations: allocated,
      evictions: this.#evictedFromDevice,
      registrations: registered,
      dedup: duplicates,
      matchRequested: this.#deviceQueried,
      matchReturned: this.#deviceFound,
      mutable: usedKvBlocks - immutable,
      immutable,
      reset: numKvBlocks - usedKvBlocks - cachedKvBlocks,
      inactive: cachedKvBlocks,
    };
  }

  #host({ offloadedBlocks }: EngineState): PoolFigures {
    const held = offloadedBlocks[HOST] ?? 0;
    return {
      allocations: this.#storedOnHost,
      evictions: this.#storedOnHost - held,
      registrations: this.#storedOnHost,
      dedup: 0,
      matchRequested: this.#hostQueried,
      matchReturned: this.#hostFound,
      mutable: 0,
      immutable: 0,
      reset: (this.#parameters.offloadTiers[HOST]?.blocks ?? 0) - held,
      inactive: held,
    };
  }

  #setPool(pool: string, figures: PoolFigures): void {
    const counters = {
      allocations: figures.allocations,
      // What is not taken from the reset pool is taken from the inactive one, and evicts what was there.
      allocations_from_reset: figures.allocations - figures.evictions,
      evictions: figures.evictions,
      registrations: figures.registrations,
      duplicate_blocks: 0,
      registration_dedup: figures.dedup,
      stagings: figures.registrations + figures.dedup,
      match_hashes_requested: figures.matchRequested,
      match_blocks_returned: figures.matchReturned,
      scan_hashes_requested: 0,
      scan_blocks_returned: 0,
    };
    const gauges = {
      inflight_mutable: figures.mutable,
      inflight_immutable: figures.immutable,
      reset_pool_size: figures.reset,
      inactive_pool_size: figures.inactive,
    };
    const labels = { pool, ...INSTANCE };
    for (const [name, value] of Object.entries(counters)) {
      this.#families.counter(`kvbm_${name}_total`).series(labels).value = value;
    }
    for (const [name, value] of Object.entries(gauges)) {
      this.#families.gauge(`kvbm_${name}`).series(labels).value = value;
    }
  }

  #counter(name: string): Scalar {
    return this.#families.counter(`kvbm_${name}`).series();
  }
}
