import { statSync } from 'node:fs';
import { stat, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../errors/expected-error.ts';

/** Whether the path exists. */
export async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Whether the path is a folder, or cannot be determined: reading it then reports why. */
export function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return true;
  }
}

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
