import { cacheSigns, cacheBlockTokens, acceptanceUnknown, speculationCounts } from '../servers/summary/cache-signs.ts';
import { things } from '../../core/text/quantities.ts';
import { join } from 'node:path';
import type { ServerTotals } from '../../core/measures/scalar-results.ts';
import type { LoadPhase } from '../../core/run/record.ts';
import type { ServerRequests, ServersResult } from '../../core/run/result.ts';
import { monotonicNow_ns, type RunEpoch } from '../clock/monotonic-clock.ts';
import type { PhaseResult } from '../load/load-generator.ts';
import { cacheShare, serverRequests, whyCountsDiffer, type ClientRequests } from '../servers/summary/request-counts.ts';
import { collectionOf, repeats, targetChanges, targetResult, type Collection } from '../servers/collection.ts';
import { SearchWatch, type TargetSearch } from '../servers/discovery/search-watch.ts';
import { Collector } from '../servers/scrape/collector.ts';
import { writeCollection } from '../servers/collect-servers.ts';
import { isThisMachine } from '../provenance/read-provenance.ts';
import { infoSeries, type InfoSeries } from '../provenance/read-servers.ts';
import { LocalGpus } from '../servers/local-gpus.ts';
import { gpuEnergy, reportsEnergy, movedWithin } from '../servers/summary/gpu-energy.ts';
import { loadNow, type ServerLoadNow, countsRest, serverLoad } from '../servers/summary/load-now.ts';
import { windowOf } from '../servers/series/statistics.ts';
import type { TargetLoop } from '../servers/scrape/target-loop.ts';
import { LateFamilies } from '../servers/summary/late-families.ts';
import {
  endEdge,
  isIdle,
  movedByRequest,
  startEdge,
  type EdgeOptions,
  type Settled,
} from '../servers/scrape/run-edges.ts';
import type { Target } from '../servers/scrape/targets.ts';
import { unfinishedDirectory } from '../store/run-paths.ts';
import { reasonOf } from '../errors/expected-error.ts';
import {
  collectedTargets,
  PageDiscovery,
  recognizedTargets,
  type MetricsPages,
  type KnownTargets,
  type RecognizedTargets,
} from './metrics-pages.ts';
import type { ServerMetricsRequest } from './run-request.ts';

/**
 * Starts to collect from the servers and from the configured targets; resolves when those that respond
 * have responded once. `sendRequest`: one to each server, which shows whose page a page at another port is. Null: nothing is
 * collected.
 */
export async function beginServerCollection(
  request: ServerMetricsRequest | null,
  pages: MetricsPages,
  epoch: RunEpoch,
  say: (line: string) => void,
  sendRequest: () => Promise<void>,
): Promise<ServerCollection | null> {
  if (request === null) return null;
  const { mains, targets, found } = await collectedTargets(request.discoverLocal, pages, say);
  const discovery = request.discovery ? new PageDiscovery(pages, say) : null;
  if (targets.length === 0) return null;
  const servers = new ServerCollection(targets, request, epoch, say, {
    ...{ mains, named: pages.named, found, searches: pages.searches ?? [] },
    ...{ discovery, sendRequest },
  });
  await servers.begin();
  return servers;
}

/** What is known about the pages before the first scrape. */
interface KnownPages extends KnownTargets {
  /** Null: no further pages are searched for. */
  readonly discovery: PageDiscovery | null;
  /** Found on this machine. */
  readonly found: readonly Target[];
  /** Repeated during the run. */
  readonly searches: readonly TargetSearch[];
  readonly sendRequest: () => Promise<void>;
}

const NOTHING_KNOWN: KnownPages = {
  ...{ mains: [], named: [], found: [], searches: [], discovery: null },
  sendRequest: () => Promise.resolve(),
};

/** What a run collects from its servers, from before its first request until the counts are stable after its last. */
export class ServerCollection {
  readonly #request: ServerMetricsRequest;
  readonly #epoch: RunEpoch;
  readonly #collector: Collector;
  readonly #edges: EdgeOptions;
  readonly #known: KnownPages;
  readonly #say: (line: string) => void;
  #foundOwn: readonly Target[] = [];
  /** Pages that may be those of others: which moved with the run is known at its end. */
  #doubtful: readonly Target[];
  #localGpus: LocalGpus | null = null;
  readonly #watch: SearchWatch;
  #onChange: () => void = () => undefined;
  readonly #cpuAtStart = process.cpuUsage();
  #idleAtBegin = false;
  #idleAtStart = true;

  constructor(
    targets: readonly Target[],
    request: ServerMetricsRequest,
    epoch: RunEpoch,
    say: (line: string) => void,
    known: KnownPages = NOTHING_KNOWN,
  ) {
    const now_ns = (): number => monotonicNow_ns() - epoch.monotonic_ns;
    this.#request = request;
    this.#epoch = epoch;
    this.#edges = { now_ns, drainTimeoutSeconds: request.drainTimeoutSeconds, say, late: new LateFamilies() };
    this.#known = known;
    this.#doubtful = known.found;
    this.#say = say;
    const { discovery } = known;
    this.#collector = new Collector({
      targets,
      interval_ns: request.intervalSeconds * 1e9,
      now_ns,
      report: say,
      ...(discovery === null ? {} : { hint: (message, target) => discovery.hint(message, target) }),
    });
    const read = targets.map(({ url }) => url);
    this.#watch = new SearchWatch(known.searches, read, {
      ...{ collector: this.#collector, now_ns, report: say },
      changed: () => this.#onChange(),
    });
  }

  /** Which pages are read may change from now on: servers that a search finds start and end. */
  onChange(listener: () => void): void {
    this.#onChange = listener;
  }

  /** Pages whose newest scrape succeeded. */
  get responding(): number {
    return this.#collector.responding;
  }

  /** The first scrape of all pages, a search for further ones by what these show, then each page at its interval. */
  async begin(): Promise<void> {
    await this.#collector.scrapeEdge();
    const { discovery, mains } = this.#known;
    if (discovery !== null) {
      const loops = this.#collector.loops.filter(({ target }) => mains.some(({ url }) => url === target.url));
      const { own, beside } = await discovery.search(loops);
      await this.#collector.add([...own, ...beside]);
      this.#foundOwn = await this.#confirmed(own);
      this.#doubtful = [...this.#doubtful, ...beside];
      await this.#watchLocalGpus(mains);
    }
    this.#idleAtBegin = isIdle(this.#collector);
    this.#collector.start();
    this.#watch.start();
  }

  /** Of pages at other ports than the servers' only those that move with a request to the servers. */
  async #confirmed(own: readonly Target[]): Promise<readonly Target[]> {
    const origins = new Set(this.#known.mains.map(({ url }) => new URL(url).origin));
    const elsewhere = this.#loopsOf(own.filter(({ url }) => !origins.has(new URL(url).origin)));
    if (elsewhere.length === 0) return own;
    const moved = await movedByRequest(this.#collector, elsewhere, this.#edges, this.#known.sendRequest);
    const foreign = elsewhere.filter((loop) => !moved.has(loop));
    await this.#leaveOut(foreign, 'what it counts did not change with a request of this run alone');
    return own.filter((target) => !foreign.some((loop) => loop.target === target));
  }

  #loopsOf(targets: readonly Target[]): TargetLoop[] {
    return this.#collector.loops.filter(({ target }) => targets.some(({ url }) => url === target.url));
  }

  async #leaveOut(loops: readonly TargetLoop[], why: string): Promise<void> {
    await this.#collector.remove(loops);
    for (const { target, system } of loops)
      this.#say(
        `the metrics of ${system ?? 'the page'} at ${target.name} are not used: ${why} (--server-metrics uses them)`,
      );
  }

  /** Where no page reports the GPUs, and the servers are on this machine, its own programs do. */
  async #watchLocalGpus(mains: readonly Target[]): Promise<void> {
    if (!mains.every(({ url }) => isThisMachine(url))) return;
    if (this.#collector.loops.some(({ store }) => reportsEnergy(store))) return;
    const { now_ns } = this.#edges;
    const options = { intervalSeconds: this.#request.intervalSeconds, now_ns, say: this.#say };
    this.#localGpus = await LocalGpus.start(options);
    if (this.#localGpus !== null) this.#say(`${this.#localGpus.program} samples the power of this machine's GPUs`);
  }

  /** What the pages report about the benchmarked servers. */
  get recognized(): RecognizedTargets {
    const { mains, named } = this.#known;
    return recognizedTargets(this.#collector.loops, { mains: [...mains, ...this.#foundOwn], named });
  }

  /** What the pages report about configurations and GPUs. */
  get info(): readonly InfoSeries[] {
    return this.#collector.loops.flatMap(({ target, store }) => infoSeries(target.name, store));
  }

  /** Tokens of a block of the servers' prefix caches; null when none reports it. */
  get cacheBlockTokens(): number | null {
    return cacheBlockTokens(this.#collector.loops.map(({ store }) => store));
  }

  /** Call before the first request of a phase: the measure phase begins with idle servers and a completed scrape. */
  async beforePhase(phase: LoadPhase, givenUp: AbortSignal): Promise<void> {
    if (phase === 'measure') this.#idleAtStart = await startEdge(this.#collector, this.#edges, givenUp);
  }

  /** Call after the last response; `givenUp`: without a wait for counts that come late. */
  async finish(phases: readonly PhaseResult[], givenUp: AbortSignal): Promise<CollectedServers> {
    this.#watch.stop();
    const settled = await endEdge(this.#collector, this.#edges, givenUp);
    await this.stop();
    const measure = phases.find(({ phase }) => phase === 'measure');
    const end_ns = measure?.end_ns ?? settled.settled_ns;
    const options = {
      zeroWall_ns: BigInt(this.#epoch.wall.getTime()) * 1_000_000n,
      window: { start_ns: measure?.start_ns ?? end_ns, end_ns },
      settled_ns: settled.settled_ns,
      slice_ns: this.#request.sliceSeconds === null ? null : this.#request.sliceSeconds * 1e9,
      definitions: this.#request.definitions,
      changes: this.#watch.changes,
    };
    const idle = this.#loopsOf(this.#doubtful).filter(({ store, system }) => {
      return !movedWithin(store, system, windowOf(store, options.window, options.settled_ns).range);
    });
    await this.#leaveOut(idle, 'nothing moved there during the run');
    const gpus = this.#localGpus;
    const local = gpus === null ? [] : [{ name: gpus.program, store: gpus.store }];
    const collection = collectionOf(this.#collector, options, local);
    const result = this.#result(collection, settled, phases);
    return new CollectedServers(collection, result, this.#request);
  }

  /** The current load of the servers, as far as they report it. */
  loadNow(): ServerLoadNow {
    return loadNow(this.#collector.loops.flatMap(({ state, store }) => (state === 'up' ? [store] : [])));
  }

  async stop(): Promise<void> {
    this.#watch.stop();
    await Promise.all([this.#collector.stop(), this.#localGpus?.stop()]);
  }

  #result(collection: Collection, settled: Settled, phases: readonly PhaseResult[]): ServersResult {
    const measure = phases.find(({ phase }) => phase === 'measure');
    const coolDown = phases.find(({ phase }) => phase === 'cooldown');
    const firstRequest_ns = this.#idleAtBegin ? (phases[0]?.start_ns ?? null) : null;
    const targets = collection.targets.map((target) => targetResult(collection, target));
    const { hasOtherShards = false } = this.#request;
    const requests = measure === undefined || hasOtherShards ? null : countedRequests(collection, measure, coolDown);
    // Families of HTTP count requests, and those of the engine the texts in them: they cannot be compared.
    const inexact =
      measure === undefined || measure.documents != null ? [] : this.#edges.late.inexact(collection.targets);
    const differ = whyCountsDiffer(requests, [measure, coolDown].flatMap((phase) => phase ?? []).map(clientCounts));
    const why = this.#whyNotExact(settled, targets, { difference: requests?.difference ?? null, differ });
    const { user, system } = process.cpuUsage(this.#cpuAtStart);
    const cpu_seconds = this.#collector.busySeconds;
    return {
      exact: why !== null ? false : requests?.server == null ? null : true,
      why,
      requests,
      ...(inexact.length === 0 ? {} : { inexact_families: inexact }),
      gpu_energy: gpuEnergy(collection, firstRequest_ns),
      collector: {
        interval_seconds: collection.interval_ns / 1e9,
        cpu_seconds,
        cpu_share: user + system > 0 ? cpu_seconds / ((user + system) / 1e6) : null,
      },
      targets,
      ...targetChanges(collection),
    };
  }

  /** Whether a server that left was read once more without a request, and with the counts of the scrape before. */
  #endedAtRest(target: string): boolean {
    const left_ns = this.#watch.leftAt_ns(target);
    const store = this.#collector.loops.find((loop) => loop.target.name === target)?.store;
    if (left_ns === null || store === undefined) return false;
    return store.at_ns(store.lastOkAt(Infinity)) > left_ns && serverLoad(store) === 0 && countsRest(store);
  }

  #whyNotExact(
    { atRest }: Settled,
    targets: ServersResult['targets'],
    { difference, differ }: { readonly difference: number | null; readonly differ: string | null },
  ): string | null {
    const several = targets.find(({ state }) => state === 'several_servers');
    // Equal counts show that the servers behind a load balancer have pages of their own here, and that none is missing.
    if (several !== undefined && difference !== 0)
      return `not exact: several servers answer at ${several.target}${differ === null ? '' : `, and ${differ}`}`;
    if (differ !== null) return `not exact: ${differ}`;
    // At an address of several servers their turns may have been taken for restarts.
    const restarted = targets.find(({ restarts, state }) => restarts > 0 && state !== 'several_servers');
    if (restarted !== undefined) return `not exact: ${restarted.target} restarted`;
    const gone = targets.find(({ state, target }) => state === 'gone' && !this.#endedAtRest(target));
    if (gone !== undefined) {
      const hasLeft = this.#watch.leftAt_ns(gone.target) !== null;
      return `not exact: ${gone.target} ${hasLeft ? 'ended before its last counts were read' : 'could not be read to the end'}`;
    }
    if (this.#request.hasOtherShards) return 'not exact: the servers also count the requests of the other shards';
    if (!this.#idleAtStart) return 'not exact: the servers were not idle before the first request';
    return atRest ? null : 'not exact: counts still changed after the last response';
  }
}

/** The server-side results of a finished run. */
export class CollectedServers {
  readonly result: ServersResult;
  /** The part that belongs to the run's measures. */
  readonly totals: ServerTotals;
  readonly #collection: Collection;
  readonly #request: ServerMetricsRequest;

  constructor(collection: Collection, result: ServersResult, request: ServerMetricsRequest) {
    this.#collection = collection;
    this.result = result;
    this.totals = {
      cachedInputRatio: cacheShare(collection),
      cacheSigns: cacheSigns(collection),
      speculation: speculationCounts(collection),
    };
    this.#request = request;
  }

  /**
   * Writes the files into the folder of a run that is not finished, and returns remarks for the reader. A disk error is
   * one of them: the run is stored without these files.
   */
  async store(runsDirectory: string, runId: string, tool: string): Promise<string[]> {
    const { why, inexact_families = [] } = this.result;
    const notes = [...(why === null ? [] : [`servers: ${why}`]), ...acceptanceUnknown(this.#collection)];
    for (const { family, observations, requests } of inexact_families)
      notes.push(
        `servers: not exact for ${family}, which comes late: ${things(observations, 'observations')}, ${things(requests, 'requests')}`,
      );
    try {
      await this.write(join(unfinishedDirectory(runsDirectory), runId), runId, tool);
    } catch (error) {
      notes.push(`the servers' metrics could not be stored: ${reasonOf(error)}`);
    }
    return notes;
  }

  /** Writes servers.json, servers.parquet and the exports into the run's folder. Throws the file system's errors. */
  async write(directory: string, runId: string, tool: string): Promise<void> {
    await writeCollection(this.#collection, runId, { directory, formats: this.#request.formats, tool });
  }
}

function countedRequests(
  collection: Collection,
  measure: PhaseResult,
  coolDown: PhaseResult | undefined,
): ServerRequests | null {
  // The page of a load balancer is that of another server each time; these are counted by their own pages, if they are known.
  const single = collection.targets.filter(({ state }) => state !== 'several_servers');
  const targets = (single.length === 0 ? collection.targets : single).map(({ store, window }) => ({
    store,
    window,
    isRepeated: (series: Parameters<typeof repeats>[1]) => repeats(collection, series) !== null,
  }));
  return serverRequests(targets, clientCounts(measure), coolDown === undefined ? null : clientCounts(coolDown));
}

const clientCounts = ({ requests, documents = null, errors }: PhaseResult): ClientRequests => ({
  ...requests,
  documents,
  errors,
});
