import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncPath } from '../files/durable-file.ts';
import { ownIdentity } from '../files/process-identity.ts';
import { discardedName, unfinishedDirectory } from './run-paths.ts';

/**
 * Removes a run's folder, finished or not, atomically: it is first renamed to a name that is not a run's, so that a
 * crash during the removal leaves nothing that looks like a run. Remains are removed when the store is opened next.
 * Throws the file system's error; ENOENT if another process was faster.
 */
export async function discardFolder(runsDirectory: string, folder: string, runId: string): Promise<void> {
  const unfinished = unfinishedDirectory(runsDirectory);
  await mkdir(unfinished, { recursive: true });
  const discarded = join(unfinished, discardedName(runId, ownIdentity()));
  await rename(folder, discarded);
  await syncPath(runsDirectory);
  await rm(discarded, { recursive: true });
}
