import { writeFileSync } from 'node:fs';
import { zipSync, type Zippable } from 'fflate';

/** Content of an archive by path. */
export type Files = ReadonlyMap<string, Uint8Array | string>;

/**
 * Writes a zip whose bytes depend on nothing but its files and the date: sorted paths, one time, equal permissions on any
 * system and in any time zone.
 */
export function writeZip(path: string, files: Files, date: Date): void {
  // A zip states local time without a zone: the UTC time of the date, wherever it is written.
  const mtime = new Date(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate(), 0, 0, 0);
  const content: Zippable = {};
  for (const [name, bytes] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    content[name] = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
  }
  writeFileSync(path, zipSync(content, { level: 9, mtime, os: 3, attrs: 0o100644 << 16 }));
}
