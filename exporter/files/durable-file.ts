import { lstat, readlink, realpath, stat, readdir, rm, open, rename, writeFile } from 'node:fs/promises';
import { dirname, resolve, join } from 'node:path';
import { codeOf } from '../errors/expected-error.ts';
import { isOwned, ownIdentity } from './process-identity.ts';

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
async function refuseSpecialFile(path: string): Promise<void> {
  try {
    if (!(await lstat(path)).isFile()) throw new Error(`${path} is not a regular file and is not replaced`);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

/** `<file>.<process id>~<its start>.tmp`: what one process writes before it takes the file's place. */
const TEMPORARY = /\.(\d+)~([0-9a-z]+\.\d+)\.tmp$/;

/** Folders in which this process has looked. */
const tidied = new Set<string>();

/**
 * The name under which the new content of a file that the user named is written, in the same folder. Removes what killed
 * processes have left in this folder, once per process. Never throws: the folder may not be readable.
 */
export async function besideOutput(path: string): Promise<string> {
  const folder = dirname(path);
  if (!tidied.has(folder)) {
    tidied.add(folder);
    // What others left must not prevent this output; writing it reports a folder that is not accessible.
    await removeLeft(folder).catch(() => undefined);
  }
  const { pid, start_time } = ownIdentity();
  return `${path}.${pid}~${start_time}.tmp`;
}

async function removeLeft(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, pid, start_time] = TEMPORARY.exec(name) ?? [];
    if (pid === undefined || start_time === undefined) continue;
    const left = join(folder, name);
    try {
      if (!(await isOwned({ pid: Number(pid), start_time }, left))) await rm(left);
    } catch {
      // Another process has removed it, or it is another user's.
    }
  }
}

/** Waits until a file, or the entries of a directory, have been synced to disk. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } catch (error) {
    // Windows does not support fsync on files opened for reading; its renames are journaled.
    if (process.platform !== 'win32') throw error;
  } finally {
    await handle.close();
  }
}

/** Where the new content of a file is written, before it takes the file's place by renaming; on the same file system. */
export type TemporaryFor = (path: string) => string | Promise<string>;

/** Next to a file of an unfinished run. It stays there if the process is killed, until the run is finished. */
export const besideFile: TemporaryFor = (path) => `${path}.${process.pid}.tmp`;

/**
 * Writes a file atomically: at every moment it has either the old or the complete new content, also after a power
 * failure. Symbolic links, FIFOs and devices are rejected. Throws the file system's error; then nothing has changed.
 */
export async function replaceFile(path: string, text: string, temporaryFor: TemporaryFor = besideFile): Promise<void> {
  await refuseSpecialFile(path);
  await replaceWhenWritten(path, (temporary) => writeFile(temporary, text, 'utf8'), temporaryFor);
  await syncPath(dirname(path));
}

/** The same for an object or a list as JSON. */
export async function replaceJson(path: string, value: object, temporaryFor: TemporaryFor = besideFile): Promise<void> {
  await replaceFile(path, jsonText(value), temporaryFor);
}

/** JSON with each member, and each element of a member that is a list, on a line: a third of the size of indented JSON. */
export function jsonText(value: object): string {
  const list = (elements: readonly unknown[], indent: string): string => {
    const lines = elements.map((each) => `\n${indent}  ${JSON.stringify(each) ?? 'null'}`);
    return elements.length === 0 ? '[]' : `[${lines.join(',')}\n${indent}]`;
  };
  if (Array.isArray(value)) return `${list(value, '')}\n`;
  const members = Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    const text = Array.isArray(member) ? list(member, '  ') : (JSON.stringify(member) as string | undefined);
    return text === undefined ? [] : [`\n  ${JSON.stringify(name)}: ${text}`];
  });
  return `{${members.join(',')}\n}\n`;
}

/**
 * Lets `write` make a file, which then takes the place of the one at the path: it exists only when it is complete. Throws
 * what `write` does and the file system's error; then nothing has changed.
 */
export async function replaceWhenWritten<T>(
  path: string,
  write: (temporary: string) => Promise<T>,
  temporaryFor: TemporaryFor = besideOutput,
): Promise<T> {
  const temporary = await temporaryFor(path);
  try {
    const result = await write(temporary);
    await syncPath(temporary);
    await rename(temporary, path);
    return result;
  } catch (error) {
    // The first error is the one to report.
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}
