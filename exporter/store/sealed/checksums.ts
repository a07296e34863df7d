import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { replaceFile } from '../../files/durable-file.ts';
import { openRegularFile, readRegularFile } from '../../files/read-regular-file.ts';
import { codeOf } from '../../errors/expected-error.ts';

/**
 * The SHA-256 of every file of a run at the time of sealing, in the format of GNU coreutils: `sha256sum -c
 * checksums.sha256` in a run's folder checks them. Files that can be generated again (report.html, exports) are not included.
 */
export const CHECKSUMS_FILE = 'checksums.sha256';

/** Files and folders that are derived from the others and may be written again at any time. */
const DERIVED: readonly string[] = ['report.html', 'aiperf'];

const LINE = /^([0-9a-f]{64}) [ *](.+)$/;

/** File → hex SHA-256; paths are relative to the run's folder, with slashes. */
export type Checksums = ReadonlyMap<string, string>;

/** Writes the checksums of all files in the folder but the derived ones. Throws the file system's error. */
export async function writeChecksums(folder: string): Promise<void> {
  await replaceFile(join(folder, CHECKSUMS_FILE), checksumsText(await checksumsOf(folder)));
}

/** The checksums of all files in the folder but the derived ones. Throws the file system's error. */
export async function checksumsOf(folder: string): Promise<Checksums> {
  const sums = new Map<string, string>();
  for (const path of await filesIn(folder)) {
    if (path !== CHECKSUMS_FILE && !DERIVED.includes(path.split('/')[0] ?? ''))
      sums.set(path, await fileSha256(join(folder, path)));
  }
  return sums;
}

/** Null if the run was sealed without. Throws the file system's error. */
export async function readChecksums(folder: string): Promise<Checksums | null> {
  try {
    return parseChecksums(await readRegularFile(join(folder, CHECKSUMS_FILE)));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

export function checksumsText(sums: Checksums): string {
  return [...sums].map(([path, sum]) => `${sum}  ${path}\n`).join('');
}

export function parseChecksums(text: string): Checksums {
  const sums = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, sum, path] = LINE.exec(line) ?? [];
    if (sum !== undefined && path !== undefined) sums.set(path, sum);
  }
  return sums;
}

/** Hex SHA-256 of a file, read in chunks. */
export async function fileSha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  const file = await openRegularFile(path);
  const { size } = await file.stat();
  await pipeline(file.createReadStream({ highWaterMark: Math.min(1 << 20, Math.max(size, 1)) }), hash);
  return hash.digest('hex');
}

/** Hex SHA-256 of a text in UTF-8. */
export const textSha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.tmp'))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
    .sort();
}
