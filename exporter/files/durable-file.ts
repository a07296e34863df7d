import { open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { refuseSpecialFile } from './output-file.ts';
import { besideOutput } from './output-temporary.ts';

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

/** JSON with each member, and each element of a member that is a list, on a line: half the size of indented JSON. */
export function jsonText(value: object): string {
  // A line feed within a string is escaped.
  const line = (each: unknown): string | undefined => JSON.stringify(each, null, 1)?.replace(/\n */g, ' ');
  const list = (elements: readonly unknown[], indent: string): string => {
    const lines = elements.map((each) => `\n${indent}  ${line(each) ?? 'null'}`);
    return elements.length === 0 ? '[]' : `[${lines.join(',')}\n${indent}]`;
  };
  if (Array.isArray(value)) return `${list(value, '')}\n`;
  const members = Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    const text = Array.isArray(member) ? list(member, '  ') : line(member);
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
