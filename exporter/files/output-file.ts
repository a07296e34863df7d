import { lstat, readlink, realpath, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { codeOf } from '../errors/store-errors.ts';

export interface OutputFile {
  /** Without symbolic links: a link keeps pointing to what is written. */
  readonly path: string;
  /** Whether a complete file may take its place by renaming. A device or a FIFO is written to instead. */
  readonly replaceable: boolean;
}

/** How the file that a user names as output is written. Throws the file system's error. */
export async function outputFile(path: string): Promise<OutputFile> {
  const target = await targetOf(path);
  try {
    return { path: target, replaceable: (await stat(target)).isFile() };
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    return { path: target, replaceable: true };
  }
}

/** The end of a chain of symbolic links, which may not exist yet. */
async function targetOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    const link = await linkAt(path);
    return link === null ? path : resolve(dirname(path), link);
  }
}

/** What the symbolic link at a path contains; null if there is none. */
async function linkAt(path: string): Promise<string | null> {
  try {
    return await readlink(path);
  } catch (error) {
    // EINVAL: another process has just created a file there.
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'EINVAL') return null;
    throw error;
  }
}

/** Rejects a path at which something other than a regular file exists, which a rename would replace. */
export async function refuseSpecialFile(path: string): Promise<void> {
  try {
    if (!(await lstat(path)).isFile()) throw new Error(`${path} is not a regular file and is not replaced`);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}
