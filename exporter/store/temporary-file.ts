import { stat, mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncPath, besideOutput, type TemporaryFor } from '../files/durable-file.ts';
import { makeDirectory } from '../files/exists.ts';
import { ownIdentity } from '../files/process-identity.ts';
import { momentaryName, unfinishedDirectory, discardedName } from './run-paths.ts';

/** Distinguishes the files of one process. */
let files = 0;

/**
 * Temporary files for files of finished runs and of the runs directory itself, in `.unfinished`: opening the store removes
 * those of ended processes.
 */
export function temporariesOf(runsDirectory: string): TemporaryFor {
  return async (path) => {
    const unfinished = unfinishedDirectory(runsDirectory);
    await makeDirectory(unfinished);
    const [{ dev: here }, { dev: there }] = await Promise.all([stat(unfinished), stat(dirname(path))]);
    // A run's folder may be a symbolic link to another disk, onto which no file can be renamed.
    return here === there ? join(unfinished, momentaryName('file', ownIdentity(), files++)) : besideOutput(path);
  };
}

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
