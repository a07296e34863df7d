import { join } from 'node:path';
import type { ServersFile } from '../../../core/run/servers-file.ts';
import { readRegularFile } from '../../files/read-regular-file.ts';
import { codeOf, DamagedRunError, reasonOf } from '../../errors/store-errors.ts';
import { migrated } from '../migrations/migrate.ts';

/**
 * The servers.json of a run folder. Null if no server metrics were collected. Throws a `DamagedRunError`, or a
 * `SchemaVersionError` for a later version.
 */
export async function readServersFile(folder: string): Promise<ServersFile | null> {
  const path = join(folder, 'servers.json');
  let text: string;
  try {
    text = await readRegularFile(path);
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
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new DamagedRunError(path, 'not an object');
  return { ...value };
}
