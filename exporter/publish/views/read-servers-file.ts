import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServersFile } from '../../servers/servers-file.ts';
import { codeOf, DamagedRunError, reasonOf } from '../../store/store-errors.ts';
import { migrated } from '../../store/migrations/migrate.ts';

/**
 * The servers.json of a run folder. Null when nothing was collected. Throws a `DamagedRunError`, or a
 * `SchemaVersionError` when a later version wrote it.
 */
export async function readServersFile(folder: string): Promise<ServersFile | null> {
  const path = join(folder, 'servers.json');
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw new DamagedRunError(path, reasonOf(error));
  }
  const file = migrated('servers', path, parsed(path, text));
  if (!Array.isArray(file['series']) || !Array.isArray(file['targets'])) {
    throw new DamagedRunError(path, 'it has no series or no targets');
  }
  return file as unknown as ServersFile;
}

function parsed(path: string, text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new DamagedRunError(path, 'it is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new DamagedRunError(path, 'no object');
  return { ...value };
}
