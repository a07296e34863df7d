import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pause } from '../clock/pause.ts';
import type { ServersFile } from '../../core/run/servers-file.ts';
import { replaceJson, replaceWhenWritten, besideOutput } from '../files/durable-file.ts';
import { collectionOf, type Collection } from './collection.ts';
import { SearchWatch, type TargetSearch } from './discovery/search-watch.ts';
import type { ExportFormat } from './files/exports/aiperf-view.ts';
import { writeExports } from './files/exports/write-exports.ts';
import { serversFile } from './files/servers-file.ts';
import { writeServersParquet } from './files/servers-parquet.ts';
import { Collector } from './scrape/collector.ts';
import type { Target } from './scrape/targets.ts';
import { BlockFile, type BlockStorage } from './series/packed-rows.ts';

interface CollectRequest {
  readonly targets: readonly Target[];
  /** Repeated while it lasts. */
  readonly searches: readonly TargetSearch[];
  readonly intervalSeconds: number;
  /** Wall time at which `now_ns` is 0. */
  readonly epoch: { readonly wall: Date };
  /** Nanoseconds since the epoch. */
  readonly now_ns: () => number;
  /** Counted from the first pages; null: until stopped. */
  readonly durationSeconds: number | null;
  /** Ends the collection. */
  readonly until: AbortSignal;
  /** Null: the window is not divided into slices. */
  readonly sliceSeconds: number | null;
  readonly definitions: Collection['definitions'];
  readonly formats: readonly ExportFormat[];
  /** Created if it does not exist. */
  readonly directory: string;
  readonly tool: string;
  readonly report: (line: string) => void;
}

/**
 * Collects from targets for the duration or until stopped, and writes servers.json, servers.parquet and the requested
 * exports. Memory does not grow with the time: samples are kept in a file without a name. The window lasts from the first scrape of the targets to the end. Throws file system errors, also before the
 * collection starts.
 */
export async function collectServers(
  request: CollectRequest,
): Promise<{ file: ServersFile; written: readonly string[] }> {
  const { directory } = request;
  await mkdir(directory, { recursive: true });
  const samples = BlockFile.create(await besideOutput(join(directory, 'samples')));
  try {
    return await writeCollection(await collected(request, samples), null, request);
  } finally {
    samples.close();
  }
}

async function collected(request: CollectRequest, storage: BlockStorage): Promise<Collection> {
  const { now_ns, until, epoch, report } = request;
  const collector = new Collector({
    targets: request.targets,
    interval_ns: request.intervalSeconds * 1e9,
    now_ns,
    report,
    storage,
  });
  await collector.scrapeEdge();
  const start_ns = now_ns();
  collector.start();
  const read = request.targets.map(({ url }) => url);
  const watch = new SearchWatch(request.searches, read, { collector, now_ns, report });
  watch.start();
  await ended(request.durationSeconds, until);
  watch.stop();
  const end_ns = now_ns();
  await collector.scrapeEdge();
  const settled_ns = now_ns();
  await collector.stop();
  return collectionOf(collector, {
    zeroWall_ns: BigInt(epoch.wall.getTime()) * 1_000_000n,
    window: { start_ns, end_ns },
    settled_ns,
    slice_ns: request.sliceSeconds === null ? null : request.sliceSeconds * 1e9,
    definitions: request.definitions,
    changes: watch.changes,
  });
}

async function ended(durationSeconds: number | null, until: AbortSignal): Promise<void> {
  if (until.aborted) return;
  if (durationSeconds === null) await once(until, 'abort');
  else await pause(durationSeconds * 1000, until);
}

/** Writes all files of a collection into an existing directory. Throws file system errors. */
export async function writeCollection(
  collection: Collection,
  runId: string | null,
  { directory, formats, tool }: Pick<CollectRequest, 'directory' | 'formats' | 'tool'>,
): Promise<{ file: ServersFile; written: readonly string[] }> {
  const file = serversFile(collection, runId);
  const json = join(directory, 'servers.json');
  const parquet = join(directory, 'servers.parquet');
  await replaceJson(json, file, besideOutput);
  await replaceWhenWritten(parquet, (temporary) => writeServersParquet(temporary, collection));
  const info = { tool, id: runId ?? `collection-${file.window.start}` };
  return { file, written: [json, parquet, ...(await writeExports(directory, formats, collection, info))] };
}

interface WindowRequest {
  readonly targets: readonly Target[];
  /** Between the two scrapes. */
  readonly seconds: number;
  /** Wall time at which `now_ns` is 0. */
  readonly epoch: { readonly wall: Date };
  /** Nanoseconds since the epoch. */
  readonly now_ns: () => number;
  /** Ends the window early. */
  readonly until: AbortSignal;
  readonly report: (line: string) => void;
}

/** Scrapes the targets twice, a window apart; without a wait when none responds to the first scrape. */
export async function watchWindow({
  targets,
  seconds,
  epoch,
  now_ns,
  until,
  report,
}: WindowRequest): Promise<Collection> {
  const collector = new Collector({ targets, interval_ns: seconds * 1e9, now_ns, report });
  try {
    await collector.scrapeEdge();
    const start_ns = now_ns();
    if (collector.loops.some(({ store }) => store.lastOkAt(Infinity) >= 0)) await pause(seconds * 1000, until);
    const end_ns = now_ns();
    await collector.scrapeEdge();
    return collectionOf(collector, {
      zeroWall_ns: BigInt(epoch.wall.getTime()) * 1_000_000n,
      window: { start_ns, end_ns },
      settled_ns: now_ns(),
      slice_ns: null,
      definitions: 'llmbench',
    });
  } finally {
    await collector.stop();
  }
}
