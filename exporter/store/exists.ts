import { stat } from 'node:fs/promises';
import { codeOf } from './store-errors.ts';

/** Whether there is something of that path. Throws what the file system says otherwise. */
export async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}
