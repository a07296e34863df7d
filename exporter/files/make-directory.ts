import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../errors/store-errors.ts';

/**
 * Creates a directory and its missing parents. Node's recursive `mkdir` loops forever if a directory exists in which
 * nothing can be created (`/proc`). Throws the system's error.
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
