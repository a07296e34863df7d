import { RunExistsError } from '../errors/store-errors.ts';
import { packUploaded, uploadRun } from '../store/object-storage/upload-run.ts';
import type { ObjectStorage } from '../store/object-storage/object-storage.ts';
import type { RunStore } from '../store/run-store.ts';
import { mergeShards, type MergedRun } from '../store/shards/merge-shards.ts';
import { downloadShards } from '../store/shards/uploaded-shards.ts';
import { writeRunFiles } from './run-files.ts';

/**
 * Merges the shards of a run that were uploaded to object storage, in a runs directory, and uploads the whole run. Merging
 * the same shards again gives the same run, so that a repetition after a failure is harmless. Throws a `ShardError`, a
 * `StorageError` and the errors of the runs directory.
 */
export async function mergeUploaded(
  storage: ObjectStorage,
  store: RunStore,
  runId: string,
  allowsMissing: boolean,
): Promise<MergedRun> {
  const isMerged = (await store.names()).includes(runId);
  if (!isMerged) await downloadShards(storage, store.directory, runId);
  const merged = isMerged ? await mergedBefore(store, runId) : await mergeShards(store, runId, allowsMissing);
  const notes = isMerged ? [] : await writeRunFiles(store, runId, []);
  await uploadRun(storage, store, runId);
  await packUploaded(storage, store, [runId]);
  return { ...merged, notes: [...merged.notes, ...notes] };
}

/** A run that was merged, and whose upload may have been interrupted. */
async function mergedBefore(store: RunStore, runId: string): Promise<MergedRun> {
  const { shards } = await store.readRun(runId);
  if (shards === undefined) throw new RunExistsError(runId, store.directory);
  return { result: await store.readResult(runId), path: store.pathOf(runId), shards, notes: [] };
}
