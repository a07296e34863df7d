import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { replaceJson } from '../store/durable-file.ts';
import { collectionOf, type Collection } from './collection.ts';
import { Collector } from './collector.ts';
import { writeExports, type ExportFormat } from './exports/write-exports.ts';
import { serversFile, type ServersFile } from './servers-file.ts';
import { writeServersParquet } from './servers-parquet.ts';
import type { Target } from './targets.ts';

export interface CollectRequest {
  readonly targets: readonly Target[];
  readonly intervalSeconds: number;
  /** The zero of `now_ns` as wall time. */
  readonly epoch: { readonly wall: Date };
  /** Nanoseconds since the epoch. */
  readonly now_ns: () => number;
  /** From when the first pages were there; null: until told to end. */
  readonly durationSeconds: number | null;
  /** Ends the collecting. */
  readonly until: AbortSignal;
  /** Null: the window is not cut. */
  readonly sliceSeconds: number | null;
  readonly definitions: Collection['definitions'];
  readonly formats: readonly ExportFormat[];
  /** Made when it is missing. */
  readonly directory: string;
  readonly tool: string;
  readonly report: (line: string) => void;
}

/**
 * Collects from targets for the duration or until told to end, and writes servers.json, servers.parquet and the exports asked for. The window
 * is from the first scrape of all to the end. Throws what the file system says, also before anything is collected.
 */
export async function collectServers(
  request: CollectRequest,
): Promise<{ file: ServersFile; written: readonly string[] }> {
  const { now_ns, until, directory, epoch, report } = request;
  await mkdir(directory, { recursive: true });
  const collector = new Collector({
    targets: request.targets,
    interval_ns: request.intervalSeconds * 1e9,
    now_ns,
    report,
  });
  await collector.scrapeEdge();
  const start_ns = now_ns();
  collector.start();
  await ended(request.durationSeconds, until);
  const end_ns = now_ns();
  await collector.scrapeEdge();
  const settled_ns = now_ns();
  await collector.stop();
  const collection = collectionOf(collector, {
    zeroWall_ns: BigInt(epoch.wall.getTime()) * 1_000_000n,
    window: { start_ns, end_ns },
    settled_ns,
    slice_ns: request.sliceSeconds === null ? null : request.sliceSeconds * 1e9,
    definitions: request.definitions,
  });
  return writeCollection(collection, null, request);
}

async function ended(durationSeconds: number | null, until: AbortSignal): Promise<void> {
  if (until.aborted) return;
  const waiting = new AbortController();
  const told = once(until, 'abort', { signal: waiting.signal });
  const over = durationSeconds === null ? [] : [sleep(durationSeconds * 1000, undefined, { signal: waiting.signal })];
  try {
    await Promise.race([told, ...over]);
  } finally {
    waiting.abort();
    await Promise.allSettled([told, ...over]);
  }
}

/** Writes all files of a collection into a directory that is there. Throws what the file system says. */
export async function writeCollection(
  collection: Collection,
  runId: string | null,
  { directory, formats, tool }: Pick<CollectRequest, 'directory' | 'formats' | 'tool'>,
): Promise<{ file: ServersFile; written: readonly string[] }> {
  const file = serversFile(collection, runId);
  const json = join(directory, 'servers.json');
  const parquet = join(directory, 'servers.parquet');
  await replaceJson(json, file);
  await writeServersParquet(parquet, collection);
  const info = { tool, id: runId ?? `collection-${file.window.start}` };
  return { file, written: [json, parquet, ...(await writeExports(directory, formats, collection, info))] };
}
