import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Waits until a file, or the entries of a directory, are on the disk. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } catch (error) {
    // Windows has no fsync of what is open for reading; its renames are journaled.
    if (process.platform !== 'win32') throw error;
  } finally {
    await handle.close();
  }
}

/** Where a process writes what will replace the file at a path. */
export const temporaryPath = (path: string, pid: number): string => `${path}.${pid}.tmp`;

/** Writes a file so that at every moment either the old or the whole new content is there, also after a power cut. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = temporaryPath(path, process.pid);
  const handle = await open(temporary, 'w');
  try {
    await handle.writeFile(text, 'utf8');
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, path);
  await syncPath(dirname(path));
}

/** The same for a value as JSON that people can read. */
export async function replaceJson(path: string, value: unknown): Promise<void> {
  await replaceFile(path, `${JSON.stringify(value, null, 2)}\n`);
}
