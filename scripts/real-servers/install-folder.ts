import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const CACHE = fileURLToPath(new URL('../../.cache/real-servers', import.meta.url));

/** The folder into which a program is installed: in `parent`, or in the repository's `.cache` without one. */
export function installFolder(name: string, parent: string | undefined): string {
  const folder = join(parent === undefined ? CACHE : resolve(parent), name);
  mkdirSync(folder, { recursive: true });
  return folder;
}
