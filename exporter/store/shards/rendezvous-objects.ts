import { makeDirectory } from '../../files/exists.ts';
import { downloadRun, readManifest } from '../object-storage/download-run.ts';
import type { ObjectStorage } from '../object-storage/object-storage.ts';
import { unfinishedDirectory, shardDirectory } from '../run-paths.ts';
import { RunStore } from '../run-store.ts';

/** How far a shard has come. `failed`: it ended without a stored run. */
export const SHARD_STATES = ['preparing', 'ready', 'uploaded', 'failed'] as const;
export type ShardState = (typeof SHARD_STATES)[number];

/** The sign of life of a shard, written again and again while its process lives. */
export interface ShardSign {
  /** Of the process: another one has another. */
  readonly instance: string;
  readonly state: ShardState;
  /** Of the run's plan; null until it is known. */
  readonly fingerprint: string | null;
  /** Counts up, so that the object changes. */
  readonly sign: number;
}

/** What shard 0 decided, once: when all begin to measure, and which processes; or why nothing is measured. */
export type StartDecision =
  { readonly start: string; readonly instances: readonly string[] } | { readonly failure: string };

/** Which shards become one run, and who merges them. */
export interface MergeClaim {
  readonly shard: string;
  readonly missing: readonly string[];
}

/** Of each object. */
export const MAX_BYTES = 1024 * 1024;

/** Beside the folders that the shards are uploaded to; not the name of a run. */
export const rendezvousFolder = (runId: string): readonly string[] => [shardsFolder(runId), 'rendezvous'];
const shardsFolder = (runId: string): string => `${runId}.shards`;

export const SIGNS = 'signs';
export const START = 'start.json';
export const MERGE = 'merge.json';
export const signName = (part: number): string => `${SIGNS}/${part}.json`;
export const partOfSign = (name: string): number => Number(/^signs\/(\d{1,5})\.json$/.exec(name)?.[1] ?? NaN);

/** Null if the text is not a sign. */
export function parseSign(text: string): ShardSign | null {
  const { instance, state, fingerprint, sign } = objectOf(text);
  const known = SHARD_STATES.find((each) => each === state);
  if (typeof instance !== 'string' || known === undefined || typeof sign !== 'number') return null;
  return { instance, state: known, fingerprint: typeof fingerprint === 'string' ? fingerprint : null, sign };
}

/** Null if the text is not a decision. */
export function parseDecision(text: string): StartDecision | null {
  const { start, instances, failure } = objectOf(text);
  if (typeof failure === 'string') return { failure: failure.slice(0, 1000) };
  if (typeof start !== 'string' || Number.isNaN(Date.parse(start)) || !areTexts(instances)) return null;
  return { start, instances };
}

/** Null if the text is not a claim. */
export function parseClaim(text: string): MergeClaim | null {
  const { shard, missing } = objectOf(text);
  return typeof shard === 'string' && areTexts(missing) ? { shard, missing } : null;
}

function objectOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}

const areTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

/**
 * Downloads the shards of a run that are complete in object storage into a runs directory, where `mergeShards` reads
 * them. Those that are there already stay as they are. Throws a `StorageError` and the file system's error.
 */
export async function downloadShards(storage: ObjectStorage, runsDirectory: string, runId: string): Promise<void> {
  const folder = storage.inside(shardsFolder(runId));
  for (const shard of (await folder.folders()).filter((name) => /^\d{1,5}$/.test(name))) {
    const uploaded = folder.inside(shard);
    const manifest = await readManifest(uploaded, runId);
    if (manifest === null) continue;
    const store = new RunStore(shardDirectory(runsDirectory, runId, shard));
    if ((await store.names()).includes(runId)) continue;
    await makeDirectory(unfinishedDirectory(store.directory));
    await downloadRun(uploaded, store, runId, manifest, () => true);
  }
}
