import type { ServersResult } from '../../core/run/result.ts';
import { collectionOfStores, repeats, targetChanges, targetResult } from '../servers/collection.ts';
import type { Collection } from '../servers/collection.ts';
import { gpuEnergy } from '../servers/summary/gpu-energy.ts';
import { serverRequests, whyCountsDiffer, type CountedTarget } from '../servers/summary/request-counts.ts';
import { serversFile } from '../servers/files/servers-file.ts';
import { writeServersParquet } from '../servers/files/servers-parquet.ts';
import type { TargetStore } from '../servers/series/target-store.ts';
import type { ImportedServers, MeasuredRequests, ServersOfRun } from './importer.ts';

/** What is known of one target that another tool read. */
export interface ReadTarget {
  readonly system: string | null;
  readonly store: TargetStore;
}

export interface ReadServers {
  /** By the target's URL, without user info and query. */
  readonly targets: ReadonlyMap<string, ReadTarget>;
  /** Wall time of the zero of the stores' times, nanoseconds since 1970: the run's start. */
  readonly zeroWall_ns: bigint;
  /** How often the tool meant to read. */
  readonly interval_ns: number;
  /** The tool's own window, for results without records; ns since the zero. */
  readonly window: MeasuredRequests['window'];
}

/** The servers' side of a run from the samples that another tool kept: the statistics are ours. */
export function serversOfStores(read: ReadServers): ImportedServers {
  return {
    forRun(measured): ServersOfRun | null {
      const window = measured.window ?? read.window;
      return window === null ? null : serversOfRun(collectionOf(read, window), measured);
    },
  };
}

/** What was collected from the servers, in the form of a run's files. */
export function serversOfRun(collection: Collection, measured: MeasuredRequests): ServersOfRun {
  return {
    result: resultOf(collection, measured),
    file: (runId) => serversFile(collection, runId),
    writeSamples: (path) => writeServersParquet(path, collection),
  };
}

function collectionOf(
  { targets, zeroWall_ns, interval_ns }: ReadServers,
  window: NonNullable<MeasuredRequests['window']>,
): Collection {
  return collectionOfStores(
    Array.from(targets, ([name, { system, store }]) => ({ name, system, store })),
    { zeroWall_ns, window, interval_ns, slice_ns: null, definitions: 'llmbench' },
  );
}

function resultOf(collection: Collection, { window, requests: client, warmupAfter }: MeasuredRequests): ServersResult {
  const counted = collection.targets.map((target) => ({
    store: target.store,
    window: target.window,
    isRepeated: (series: Parameters<typeof repeats>[1]) => repeats(collection, series) !== null,
  }));
  // Without records it is not known how many of the requests are in which count.
  const requests = window === null ? null : withWarmup(serverRequests(counted, client), counted, warmupAfter);
  const targets = collection.targets.map((target) => targetResult(collection, target));
  const why = whyNotExact(whyCountsDiffer(requests, [client]), targets);
  return {
    exact: why !== null ? false : requests?.server == null ? null : true,
    why,
    requests,
    gpu_energy: gpuEnergy(collection, null),
    collector: { interval_seconds: collection.interval_ns / 1e9, cpu_seconds: null, cpu_share: null },
    targets,
    ...targetChanges(collection),
  };
}

/**
 * Requests of the warm-up that ended after the last scrape before the run are in the servers' counts, and are the client's
 * own.
 */
function withWarmup(
  requests: ServersResult['requests'],
  targets: readonly CountedTarget[],
  warmupAfter: MeasuredRequests['warmupAfter'],
): ServersResult['requests'] {
  if (requests === null || (requests.difference ?? 0) <= 0) return requests;
  const reading = targets.filter(({ store }) => store.series.some(({ family }) => family.name === requests.family));
  const baselines = reading.map(({ store, window }) =>
    window.range.from < 0 ? -Infinity : store.at_ns(window.range.from),
  );
  const warmup = Math.min(requests.difference ?? 0, warmupAfter(Math.min(...baselines)));
  if (warmup === 0) return requests;
  const difference = (requests.difference ?? 0) - warmup;
  return { ...requests, client: requests.client + warmup, warmup, difference };
}

function whyNotExact(countsDiffer: string | null, targets: ServersResult['targets']): string | null {
  if (countsDiffer !== null) return `not exact: ${countsDiffer}`;
  const restarted = targets.find(({ restarts }) => restarts > 0);
  return restarted === undefined ? null : `not exact: ${restarted.target} restarted`;
}
