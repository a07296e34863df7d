import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { syncPath } from '../../files/durable-file.ts';
import { damagedDirectory } from '../run-paths.ts';
import { codeOf, reasonOf } from '../../errors/store-errors.ts';

/**
 * Moves a damaged run's folder to `.damaged`, unchanged, and returns one line about it: damaged data is never deleted
 * and does not affect other runs. Throws the file system's error.
 */
export async function setAside(runsDirectory: string, folder: string, runId: string, damage: unknown): Promise<string> {
  const damaged = damagedDirectory(runsDirectory);
  await mkdir(damaged, { recursive: true });
  for (let copy = 1; ; copy++) {
    const path = join(damaged, copy === 1 ? runId : `${runId}.${copy}`);
    try {
      await rename(folder, path);
      await syncPath(damaged);
      return `run ${runId} was set aside to ${path}: ${reasonOf(damage)}`;
    } catch (error) {
      // A run of that name was set aside before.
      if (codeOf(error) !== 'ENOTEMPTY' && codeOf(error) !== 'EEXIST') throw error;
    }
  }
}
