import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncPath } from './durable-file.ts';
import { ownIdentity } from './process-identity.ts';
import { discardedName, unfinishedDirectory } from './run-paths.ts';

/**
 * Removes a run's folder, finished or not, in one step: it first gets a name that no run has, so that a crash while its
 * files are removed leaves nothing that looks like a run. What is left then is removed when the store is opened next.
 * Throws what the file system says; ENOENT when another process was quicker.
 */
export async function discardFolder(runsDirectory: string, folder: string, runId: string): Promise<void> {
  const unfinished = unfinishedDirectory(runsDirectory);
  await mkdir(unfinished, { recursive: true });
  const discarded = join(unfinished, discardedName(runId, ownIdentity()));
  await rename(folder, discarded);
  await syncPath(runsDirectory);
  await rm(discarded, { recursive: true });
}
