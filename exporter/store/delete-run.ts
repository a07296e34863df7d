import { discardFolder } from './discard-folder.ts';
import type { RunStore } from './run-store.ts';
import { codeOf } from './store-errors.ts';

/** Removes a finished run for good, wholly or not at all. False when it was gone already. Throws what the file system says. */
export async function deleteRun(store: RunStore, runId: string): Promise<boolean> {
  try {
    await discardFolder(store.directory, store.pathOf(runId), runId);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}
