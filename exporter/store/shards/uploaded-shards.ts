import { makeDirectory } from '../../files/make-directory.ts';
import { downloadRun } from '../object-storage/download-run.ts';
import type { ObjectStorage } from '../object-storage/object-storage.ts';
import { readManifest } from '../object-storage/run-manifest.ts';
import { RunStore } from '../run-store.ts';
import { unfinishedDirectory } from '../run-paths.ts';
import { shardsFolder } from './rendezvous-objects.ts';
import { shardDirectory } from './shard-folders.ts';

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
