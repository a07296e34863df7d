import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TemporaryFor } from '../files/durable-file.ts';
import { makeDirectory } from '../files/make-directory.ts';
import { besideOutput } from '../files/output-temporary.ts';
import { ownIdentity } from '../files/process-identity.ts';
import { momentaryName, unfinishedDirectory } from './run-paths.ts';

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
