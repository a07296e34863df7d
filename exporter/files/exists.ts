import { statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { codeOf } from '../errors/store-errors.ts';

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
