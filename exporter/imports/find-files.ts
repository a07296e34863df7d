import type { Dirent } from 'node:fs';
import { lstat, readdir, realpath, stat, statfs } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { codeOf, reasonOf } from '../errors/expected-error.ts';
import { byNumber } from './importer.ts';

/** What a walk may come to. */
export const DEEPEST_FOLDER = 32;
export const MAX_FILES = 200_000;

/** proc and sysfs: reading there may wait for ever, or take what others wait for. */
const KERNEL_FILE_SYSTEMS: ReadonlySet<number> = new Set([0x9fa0, 0x62656572]);

/** Folders that hold no results and many files. */
const PASSED_BY = new Set(['node_modules', '.git', '__pycache__', '.venv', 'checkpoints']);

export interface FoundFiles {
  /** Absolute, sorted by name, numbers in it by their value. */
  readonly paths: readonly string[];
  readonly refused: readonly Unread[];
}

/** What could not be looked at, and why. */
export interface Unread {
  readonly path: string;
  readonly reason: string;
  /** A path that was given does not exist. */
  readonly missing?: boolean;
  /** The tool that wrote it, when that is known. */
  readonly tool?: string;
}

/**
 * All files at the paths, folders walked. A link inside a folder is followed only when it leads to something inside that
 * folder; special files are left out. Never throws for what it finds.
 */
export async function findFiles(paths: readonly string[]): Promise<FoundFiles> {
  const found = new Set<string>();
  const refused: Unread[] = [];
  for (const path of paths) {
    const notAPath = noPath(path);
    if (notAPath !== null) {
      refused.push({ path: withoutSecrets(path), reason: notAPath, missing: true });
      continue;
    }
    const absolute = resolve(path);
    try {
      const entry = await stat(absolute);
      if (KERNEL_FILE_SYSTEMS.has((await statfs(absolute)).type))
        refused.push({ path: absolute, reason: 'it is a file of the kernel, not of a disk' });
      else if (entry.isDirectory()) await walk(absolute, await realpath(absolute), found, refused);
      else if (entry.isFile()) found.add(absolute);
      else refused.push({ path: absolute, reason: 'it is neither a file nor a directory' });
    } catch (error) {
      refused.push({ path: absolute, reason: reasonOf(error), missing: codeOf(error) === 'ENOENT' });
    }
  }
  // Results without a time of their own are in the order of their files.
  return { paths: [...found].sort((a, b) => byNumber(a, b) || (a < b ? -1 : 1)), refused };
}

/** What is no path of a file, and what to do instead; null for a path. */
function noPath(path: string): string | null {
  if (path === '-') return 'standard input cannot be imported: write it to a file';
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(path) ? 'it is a URL: download the file and pass its path' : null;
}

/** Of a URL neither user info nor query. */
const withoutSecrets = (url: string): string => url.replace(/^([^/]*:\/\/)[^/]*@/, '$1').replace(/[?#].*$/s, '');

async function walk(root: string, realRoot: string, found: Set<string>, refused: Unread[]): Promise<void> {
  const folders = [{ path: root, depth: 0 }];
  const refuse = (path: string, reason: string): void => void refused.push({ path, reason });
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const { path, depth } = folder;
    const entries = await readdir(path, { withFileTypes: true }).catch((error: unknown) => {
      refuse(path, reasonOf(error));
      return [];
    });
    for (const entry of entries) {
      const inside = join(path, entry.name);
      const kind = await kindOf(entry, inside, realRoot);
      if (kind === 'outside') refuse(inside, 'it is a link that leads out of the folder');
      if (kind === 'folder' && depth >= DEEPEST_FOLDER)
        refuse(inside, `it is more than ${DEEPEST_FOLDER} folders deep`);
      else if (kind === 'folder' && !PASSED_BY.has(entry.name)) folders.push({ path: inside, depth: depth + 1 });
      if (kind !== 'file') continue;
      if (found.size >= MAX_FILES) {
        refuse(root, `it has more than ${MAX_FILES} files: import parts of it`);
        return;
      }
      found.add(inside);
    }
  }
}

/** A link to a folder is not followed: what it leads to is found where it is. */
async function kindOf(entry: Dirent, path: string, realRoot: string): Promise<'file' | 'folder' | 'outside' | 'other'> {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  if (!entry.isSymbolicLink()) return 'other';
  try {
    const real = await realpath(path);
    const within = relative(realRoot, real);
    if (within === '..' || within.startsWith(`..${sep}`) || resolve(within) === within) return 'outside';
    return (await lstat(real)).isFile() ? 'file' : 'other';
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ELOOP') return 'other';
    throw error;
  }
}
