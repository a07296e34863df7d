import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from './store-errors.ts';

/**
 * Makes a directory and those above it that are missing. Node's own recursive `mkdir` tries for ever where a directory
 * exists and nothing can be made in it (`/proc`). Throws the system's error.
 */
export async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return;
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error;
    await makeDirectory(dirname(path));
    await mkdir(path).catch((again: unknown) => {
      if (codeOf(again) !== 'EEXIST') throw again;
    });
  }
}
