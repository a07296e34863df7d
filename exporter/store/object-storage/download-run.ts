import { mkdir, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StorageError } from '../../errors/storage-errors.ts';
import { codeOf } from '../../errors/store-errors.ts';
import { replaceFile, syncPath } from '../../files/durable-file.ts';
import { discardFolder } from '../discard-folder.ts';
import { startHeartbeat } from '../../files/heartbeat.ts';
import { ownIdentity } from '../../files/process-identity.ts';
import { claimedName, unfinishedDirectory } from '../run-paths.ts';
import type { RunStore } from '../run-store.ts';
import { CHECKSUMS_FILE, checksumsText, type Checksums } from '../sealed/checksums.ts';
import type { ObjectStorage } from './object-storage.ts';
import { filePath } from './run-manifest.ts';

const RUN_FILE = 'run.json';
const REPORT = 'report.html';

/**
 * Downloads files of a stored run into a new run folder, which appears when all of them are there and equal their
 * checksums. `wanted` are names in the manifest, or `report.html`. False if a run of that name exists already. Throws a
 * `StorageError` and the file system's error; then nothing is left.
 */
export async function downloadRun(
  storage: ObjectStorage,
  store: Pick<RunStore, 'directory' | 'pathOf'>,
  runId: string,
  manifest: Checksums,
  wanted: (name: string) => boolean,
): Promise<boolean> {
  const final = store.pathOf(runId);
  const folder = filePath(unfinishedDirectory(store.directory), claimedName(runId, ownIdentity()));
  // While it has this name it belongs to this process; if the process ends, opening the store removes it.
  await mkdir(folder, { recursive: true });
  const heartbeat = startHeartbeat(folder);
  try {
    // run.json is the last file: a folder with it is complete.
    for (const [name, sha256] of [...manifest].sort(([a], [b]) => Number(a === RUN_FILE) - Number(b === RUN_FILE))) {
      if (wanted(name)) await downloadFile(storage, runId, name, folder, sha256);
    }
    if (wanted(REPORT)) await storage.download(`${runId}/${REPORT}`, filePath(folder, REPORT), null);
    await replaceFile(filePath(folder, CHECKSUMS_FILE), checksumsText(manifest));
    await rename(folder, final);
    await syncPath(dirname(final));
    return true;
  } catch (error) {
    await discardFolder(store.directory, folder, runId);
    if (codeOf(error) === 'EEXIST' || codeOf(error) === 'ENOTEMPTY') return false;
    throw error;
  } finally {
    heartbeat.stop();
  }
}

/** Downloads one file of a run into `folder`. Throws a `StorageError` if it is missing or differs from its checksum. */
export async function downloadFile(
  storage: ObjectStorage,
  runId: string,
  name: string,
  folder: string,
  sha256: string,
): Promise<void> {
  const path = filePath(folder, name);
  await mkdir(dirname(path), { recursive: true });
  if (await storage.download(`${runId}/${name}`, path, sha256)) return;
  throw new StorageError('damaged', `${storage.url}/${runId}/${name} is missing`);
}
