import { discardFolder } from '../recovery/discard-folder.ts';
import type { RunStore } from '../run-store.ts';
import { codeOf } from '../../errors/store-errors.ts';

/** Deletes a finished run permanently and atomically. False if it no longer existed. Throws the file system's error. */
export async function deleteRun(store: RunStore, runId: string): Promise<boolean> {
  await store.checkWritable();
  try {
    await discardFolder(store.directory, store.pathOf(runId), runId);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}
