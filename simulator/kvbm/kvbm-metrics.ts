import type { BlockTotals } from '../engine/blocks.ts';
import type { EngineState, EngineEvent, KvTrafficEvent, RequestProgress } from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import { PageFamilies, type PageEntries } from '../metrics/page-families.ts';
import { FORMATS, writePage } from '../metrics/write-page.ts';
import type { Scalar } from '../metrics/family.ts';

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
    return writePage(this.#families.all(), FORMATS.RUST);
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

/** Blocks that one request looked for below the device, and found in each tier. */
interface Lookup {
  readonly queried: number;
  readonly found: readonly number[];
}

const REQUESTS = 1000;

/** Hit rates over the last thousand requests. */
export class HitWindow {
  #lookups: Lookup[] = [];

  add(lookup: Lookup): void {
    this.#lookups.push(lookup);
    // Cut off now and then, not each time.
    if (this.#lookups.length >= 2 * REQUESTS) this.#lookups = this.#lookups.slice(-REQUESTS);
  }

  /** From 0 to 1; 0 while nothing was looked for. */
  rate(tier: number): number {
    const recent = this.#lookups.slice(-REQUESTS);
    const queried = recent.reduce((sum, lookup) => sum + lookup.queried, 0);
    const found = recent.reduce((sum, lookup) => sum + (lookup.found[tier] ?? 0), 0);
    return queried === 0 ? 0 : found / queried;
  }
}

/** What KVBM's leader exposes: transfers between tiers and hits, and the collector of the logical pools. */
const KVBM_PAGE: PageEntries = [
  ['kvbm_offload_blocks_d2h', 'The number of offload blocks from device to host'],
  ['kvbm_offload_blocks_h2d', 'The number of offload blocks from host to disk'],
  ['kvbm_offload_blocks_d2d', 'The number of offload blocks from device to disk (bypassing host memory)'],
  ['kvbm_offload_blocks_d2o', 'The number of offload blocks from device to object storage'],
  ['kvbm_onboard_blocks_h2d', 'The number of onboard blocks from host to device'],
  ['kvbm_onboard_blocks_d2d', 'The number of onboard blocks from disk to device'],
  ['kvbm_onboard_blocks_o2d', 'The number of onboard blocks from object storage to device'],
  ['kvbm_object_read_failures', 'The number of failed object storage read operations (blocks)'],
  ['kvbm_object_write_failures', 'The number of failed object storage write operations (blocks)'],
  ['kvbm_matched_tokens', 'The number of matched tokens'],
  ['kvbm_host_cache_hit_rate', 'Host cache hit rate (0.0-1.0) from the sliding window'],
  ['kvbm_disk_cache_hit_rate', 'Disk cache hit rate (0.0-1.0) from the sliding window'],
  ['kvbm_object_cache_hit_rate', 'Object storage cache hit rate (0.0-1.0) from the sliding window'],
  ['kvbm_allocations_total', 'Total blocks allocated from pools'],
  ['kvbm_allocations_from_reset_total', 'Total blocks allocated from the reset pool'],
  ['kvbm_evictions_total', 'Total blocks evicted from inactive pool'],
  ['kvbm_registrations_total', 'Total blocks registered (CompleteBlock -> ImmutableBlock)'],
  ['kvbm_duplicate_blocks_total', 'Total duplicate blocks created (Allow policy)'],
  ['kvbm_registration_dedup_total', 'Total block registrations deduplicated (Reject policy)'],
  ['kvbm_stagings_total', 'Total MutableBlock -> CompleteBlock transitions'],
  ['kvbm_match_hashes_requested_total', 'Total hashes requested in match_blocks calls'],
  ['kvbm_match_blocks_returned_total', 'Total blocks returned from match_blocks calls'],
  ['kvbm_scan_hashes_requested_total', 'Total hashes requested in scan_matches calls'],
  ['kvbm_scan_blocks_returned_total', 'Total blocks returned from scan_matches calls'],
  ['kvbm_inflight_mutable', 'Current MutableBlocks held outside pool'],
  ['kvbm_inflight_immutable', 'Current ImmutableBlocks held outside pool'],
  ['kvbm_reset_pool_size', 'Current reset pool size'],
  ['kvbm_inactive_pool_size', 'Current inactive pool size'],
];

/** Counters of newer builds for races that the simulator, with a single thread, never has. */
const KVBM_RACES: PageEntries = [
  ['kvbm_eager_primary_to_inactive_total', 'Total primary to inactive transitions done eagerly by a lookup'],
  ['kvbm_allocate_atomic_rollback_total', 'Total allocations rolled back for want of inactive blocks'],
  ['kvbm_release_primary_noop_total', 'Total primary releases that found nothing to do'],
  ['kvbm_release_duplicate_noop_total', 'Total duplicate releases that found their slot changed'],
];
