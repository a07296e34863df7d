import { DCGM_CONTENT_TYPE, DCGM_PORT, DcgmMetrics, GpuLoad } from '../dcgm/dcgm-metrics.ts';
import { Engine } from '../engine/engine.ts';
import { RestartingServer } from '../faults/restarting-server.ts';
import type { Listening } from '../faults/restarting-server.ts';
import { EngineDriver, MonotonicClock } from '../http/engine-driver.ts';
import { metricsServer, Site, pagePort, type PagePort } from '../http/site.ts';
import { SimulatorServer } from '../http/server.ts';
import type { StartOptions, StartedSystem } from '../start.ts';
import { VllmProfile } from '../vllm/profile.ts';
import type { BlockTotals } from '../engine/blocks.ts';
import type { EngineEvent, EngineState, KvTrafficEvent, RequestProgress } from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import { Feed } from '../metrics/feed.ts';
import { MetricsPage } from '../metrics/page.ts';
import { at, on, sum } from '../metrics/signals.ts';
import type { Signals } from '../metrics/signals.ts';
import { FORMATS } from '../metrics/write-page.ts';

/** What differs from the simulator's defaults: tiers, and a device that is too small for long. */
export const KVBM_PARAMETERS: Partial<EngineParameters> = {
  numKvBlocks: 4096,
  offloadTiers: [
    { name: 'host', blocks: 16_384, loadMillisecondsPerBlock: 0.05 },
    { name: 'disk', blocks: 131_072, loadMillisecondsPerBlock: 0.8 },
  ],
};

const KVBM_CONTENT_TYPE = 'text/plain; charset=utf-8';

/** vLLM with the KVBM connector: vLLM's API and page on one port, KVBM's page on another, the GPU's on a third. */
export async function startKvbm({ host, port: wanted, ...options }: StartOptions): Promise<StartedSystem> {
  const kvbmAddress = pagePort(6880, options.defaultPagePorts);
  const gpuAddress = pagePort(DCGM_PORT, options.defaultPagePorts);
  const server = new RestartingServer(() => makeSite(options, kvbmAddress, gpuAddress), options.faults.restart);
  const port = await server.listen(wanted, host);
  const pageAt = (at: { readonly port: number }) => ({ port: at.port, path: '/metrics' });
  return { port, pages: [pageAt(kvbmAddress), pageAt({ port }), pageAt(gpuAddress)], close: () => server.close() };
}

function makeSite(
  options: Omit<StartOptions, 'host' | 'port'>,
  kvbmAddress: PagePort,
  gpuAddress: PagePort,
): Listening {
  const { model, parameters } = options;
  const clock = new MonotonicClock();
  const engine = new Engine(parameters);
  const profile = new VllmProfile({ modelName: model, parameters, switches: false });
  const kvbm = new KvbmMetrics(parameters, () => engine.kvBlockTotals);
  const gpu = new GpuLoad(parameters);
  const driver = new EngineDriver(engine, clock, (events) => {
    for (const observer of [profile, kvbm, gpu]) observer.observe(events);
  });
  const gpuPage = new DcgmMetrics([gpu]);
  const main = new SimulatorServer({ ...options, profile, clock, makeBackend: () => driver });
  const pages = [
    { server: metricsServer(KVBM_CONTENT_TYPE, () => kvbm.page(driver.state())), address: kvbmAddress },
    { server: metricsServer(DCGM_CONTENT_TYPE, () => gpuPage.page(clock.now_ns())), address: gpuAddress },
  ];
  return new Site(main, pages, () => undefined);
}

const HOST = 0;
const DISK = 1;
const DEVICE_POOL = 'G1';
const HOST_POOL = 'G2';

/** What the collector of the logical pools says of one pool. */
interface PoolFigures {
  readonly pool: string;
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
  // Newer builds have counters of races, which a simulator with a single thread never has.
  readonly #page = new MetricsPage({ catalogs: ['kvbm'], parts: ['leader', 'races'], format: FORMATS.RUST });
  readonly #feed: Feed;
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
    this.#feed = new Feed(this.#page, {
      parameters,
      labels: { instance_id: 'simulated-0', worker_id: '0' },
      labelsOf: { pool: ({ pool }: PoolFigures) => pool },
      values: { pool: [DEVICE_POOL, HOST_POOL] },
      signals: SIGNALS,
    });
  }

  observe(events: readonly EngineEvent[]): void {
    this.#feed.observe(events);
    for (const event of events) {
      if (event.kind === 'kv-traffic') {
        this.#evictedFromDevice += event.evicted;
        this.#storedOnHost += event.stored[HOST] ?? 0;
      } else if (event.kind === 'scheduled' && !event.resumed) this.#matched(event.request);
    }
  }

  page(state: EngineState): string {
    this.#feed.report('hit_window', this.#window);
    this.#feed.report('pool', this.#device(state));
    this.#feed.report('pool', this.#host(state));
    return this.#feed.text();
  }

  #matched({ promptTokens, cachedTokens, offloadedTokens }: RequestProgress): void {
    const { blockSize } = this.#parameters;
    const found = offloadedTokens.map((tokens) => tokens / blockSize);
    const onDevice = (cachedTokens - sum(offloadedTokens)) / blockSize;
    const blocks = Math.floor(promptTokens / blockSize);
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
      pool: DEVICE_POOL,
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
      pool: HOST_POOL,
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
}

const SIGNALS: Signals = {
  ...on<KvTrafficEvent>('kv_traffic', {
    offloaded_to_host: ({ stored }) => stored[HOST] ?? 0,
    offloaded_to_disk: ({ stored }) => stored[DISK] ?? 0,
    onboarded_from_host: ({ loaded }) => loaded[HOST] ?? 0,
    onboarded_from_disk: ({ loaded }) => loaded[DISK] ?? 0,
  }),
  ...at<HitWindow>('hit_window', {
    host_hit_ratio: (window) => window.rate(HOST),
    disk_hit_ratio: (window) => window.rate(DISK),
  }),
  ...at<PoolFigures>('pool', {
    pool_allocations: ({ allocations }) => allocations,
    // What is not taken from the reset pool is taken from the inactive one, and evicts what was there.
    pool_reset_allocations: ({ allocations, evictions }) => allocations - evictions,
    pool_evictions: ({ evictions }) => evictions,
    pool_registrations: ({ registrations }) => registrations,
    pool_duplicates: ({ dedup }) => dedup,
    pool_stagings: ({ registrations, dedup }) => registrations + dedup,
    pool_match_requests: ({ matchRequested }) => matchRequested,
    pool_matches: ({ matchReturned }) => matchReturned,
    pool_mutable: ({ mutable }) => mutable,
    pool_immutable: ({ immutable }) => immutable,
    pool_reset: ({ reset }) => reset,
    pool_inactive: ({ inactive }) => inactive,
    pool_unused: () => 0,
  }),
};

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
