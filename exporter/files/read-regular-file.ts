import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { lstat, open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Windows has neither flag, nor FIFOs in folders. */
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
const FLAGS = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

/** A FIFO, a device, a folder or a socket. */
export class NotRegularError extends Error {
  override readonly name = 'NotRegularError';

  constructor() {
    super('it is not a regular file');
  }
}

/**
 * A regular file, to read. Symbolic links (which may point outside the runs directory), FIFOs (which would block)
 * and devices are rejected. Throws the file system's error, `ELOOP` for a symbolic link.
 */
export async function openRegularFile(path: string): Promise<FileHandle> {
  const file = await open(path, FLAGS);
  try {
    if (!(await file.stat()).isFile()) throw new NotRegularError();
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** The text of a regular file, as above. */
export async function readRegularFile(path: string): Promise<string> {
  const file = await openRegularFile(path);
  try {
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/** Rejects what is not a regular file, as above, or is in a linked folder, before a library opens it. */
export async function checkRegularFile(path: string): Promise<void> {
  if ((await lstat(dirname(path))).isSymbolicLink())
    throw new Error('its folder is a symbolic link, which is not followed');
  await (await openRegularFile(path)).close();
}

/** The descriptor of a regular file, as above; the caller closes it. */
export function openRegularFileSync(path: string): number {
  const file = openSync(path, FLAGS);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw new NotRegularError();
}

/** The text of a regular file, as above. */
export function readRegularFileSync(path: string): string {
  const file = openRegularFileSync(path);
  try {
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/** Keeps a disk busy and stays far below the limit of open files of a process. */
const FILES_AT_ONCE = 32;

/** Reads a file or two per item, some of them at once; the results are in the order of the items. */
export async function readInBatches<T, R>(items: readonly T[], read: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let i = 0; i < items.length; i += FILES_AT_ONCE) {
    results.push(...(await Promise.all(items.slice(i, i + FILES_AT_ONCE).map(read))));
  }
  return results;
}
