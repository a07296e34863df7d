import { stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { findFiles } from '../imports/find-files.ts';

/** The clock of a file system advances in steps of up to 10 ms, and its times are rounded down. */
const CLOCK_STEP_MS = 20;

/** A file that a command wrote. */
export interface WrittenFile {
  readonly path: string;
  /** It was there before the command began, which replaced its content or appended to it. */
  readonly existed: boolean;
}

/**
 * Where a command may have written: the working directory, and the files and directories that its arguments name, also in
 * `--option=PATH`. Directories around the working directory are not among them.
 */
export function likelyPlaces(command: readonly string[], workingDirectory: string): readonly string[] {
  const named = command.slice(1).flatMap((word) => [word, word.replace(/^-[^=]*=/, '')]);
  const places = named
    .filter((word) => word !== '' && !word.startsWith('-'))
    .map((word) => resolve(workingDirectory, word))
    .filter((path) => !contains(path, workingDirectory));
  return [workingDirectory, ...new Set(places)];
}

/** The files below the places that were written since a moment, except those in a directory of stored runs. */
export async function filesWrittenSince(
  places: readonly string[],
  since_ms: number,
  runsDirectory: string,
): Promise<readonly WrittenFile[]> {
  const { paths } = await findFiles(places);
  const from_ms = since_ms - CLOCK_STEP_MS;
  const written: WrittenFile[] = [];
  for (const path of paths) {
    if (contains(resolve(runsDirectory), path)) continue;
    const { mtimeMs, birthtimeMs } = await stat(path).catch(() => ({ mtimeMs: 0, birthtimeMs: 0 }));
    if (mtimeMs >= from_ms) written.push({ path, existed: birthtimeMs < from_ms });
  }
  return written;
}

/** Whether a path is the directory or below it. */
function contains(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
