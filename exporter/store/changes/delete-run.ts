import { rm } from 'node:fs/promises';
import { discardFolder } from '../discard-folder.ts';
import type { RunStore } from '../run-store.ts';
import { codeOf, isDiskFull, RunsDirectoryError } from '../../errors/store-errors.ts';

/**
 * Deletes a finished run permanently, and atomically unless the disk is full. False if it no longer existed. Throws the
 * file system's error.
 */
export async function deleteRun(store: RunStore, runId: string): Promise<boolean> {
  const folder = store.pathOf(runId);
  try {
    await store.checkWritable();
    await discardFolder(store.directory, folder, runId);
    return true;
  } catch (error) {
    const code = codeOf(error instanceof RunsDirectoryError ? error.cause : error);
    if (code === 'ENOENT') return false;
    if (!isDiskFull(code)) throw error;
    // Deleting is what frees the disk, and a part of a run is worth nothing.
    await rm(folder, { recursive: true, force: true });
    return true;
  }
}
