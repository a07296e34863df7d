import { join } from 'node:path';
import { lstat } from 'node:fs/promises';
import { zstdDecompressSync } from 'node:zlib';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import type { ServersFile } from '../../core/run/servers-file.ts';
import { codeOf, DamagedRunError, reasonOf } from '../errors/expected-error.ts';
import { readRegularFile } from '../files/read-regular-file.ts';
import type { SampleRow } from '../servers/files/servers-parquet.ts';
import { migrated } from './migrations/migrate.ts';

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

const COLUMNS = ['target', 'name', 'family', 'type', 'labels', 'le', 'time_ns', 'value'] as const;

/** Parquet readers leave out optional values. */
type StoredRow = Omit<SampleRow, 'le' | 'value'> & Partial<Pick<SampleRow, 'le' | 'value'>>;

/**
 * The rows of the servers.parquet of a run folder, one row group at a time. Null if the file does not exist. Throws if
 * it is damaged.
 */
export async function readServersParquet(folder: string): Promise<AsyncIterable<readonly SampleRow[]> | null> {
  const path = join(folder, 'servers.parquet');
  const stat = await lstat(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (stat === null) return null;
  if (!stat.isFile()) throw new DamagedRunError(path, 'it is not a regular file');
  return rowGroups(await asyncBufferFromFile(path));
}

async function* rowGroups(
  file: Awaited<ReturnType<typeof asyncBufferFromFile>>,
): AsyncGenerator<readonly SampleRow[], void, undefined> {
  const metadata = await parquetMetadataAsync(file);
  const compressors = { ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes) };
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    const rows = await parquetReadObjects({ file, metadata, compressors, columns: [...COLUMNS], rowStart, rowEnd });
    yield rows.map((row) => {
      const stored = row as unknown as StoredRow;
      return { ...stored, le: stored.le ?? null, value: stored.value ?? null };
    });
    rowStart = rowEnd;
  }
}
