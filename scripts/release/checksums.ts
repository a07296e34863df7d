import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const CHECKSUMS_FILE = 'SHA256SUMS';

/** Writes the checksums of all files in the folder, in the form that `sha256sum -c` reads. */
export function writeChecksums(folder: string): void {
  const files = readdirSync(folder).filter((file) => file !== CHECKSUMS_FILE);
  const line = (file: string): string =>
    `${createHash('sha256')
      .update(readFileSync(join(folder, file)))
      .digest('hex')}  ${file}\n`;
  writeFileSync(join(folder, CHECKSUMS_FILE), files.sort().map(line).join(''));
}
