import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { zstdDecompressSync } from 'node:zlib';
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet';
import type { ColumnMetaData, FileMetaData } from 'hyparquet';
import { DamagedRunError } from '../store-errors.ts';
import { decodeInt64Page } from './int64-page.ts';
import { readPageHeader } from './page-header.ts';

const DATA_PAGE_V2 = 3;
const PLAIN = 0;

/**
 * Whole columns of times of a records file (INT64), as numbers; NaN is null. Reads what this program writes (plain pages
 * of version 2, zstd) without making an object or a BigInt per value: a tenth of the time of reading rows. A column that
 * the file does not have is null throughout. Throws a `DamagedRunError` for other forms of page and damaged files.
 */
export async function readInt64Columns<Name extends string>(
  path: string,
  names: readonly Name[],
): Promise<Record<Name, Float64Array>> {
  const metadata = await parquetMetadataAsync(await asyncBufferFromFile(path));
  const rows = Number(metadata.num_rows);
  const file = await open(path, 'r');
  try {
    const columns: Partial<Record<Name, Float64Array>> = {};
    for (const name of names) columns[name] = await readColumn(file, metadata, name, new Float64Array(rows));
    return columns as Record<Name, Float64Array>;
  } catch (error) {
    throw error instanceof RangeError ? new DamagedRunError(path, error.message) : error;
  } finally {
    await file.close();
  }
}

async function readColumn(
  file: FileHandle,
  metadata: FileMetaData,
  name: string,
  values: Float64Array,
): Promise<Float64Array> {
  const isNullable = metadata.schema.find((element) => element.name === name)?.repetition_type === 'OPTIONAL';
  let row = 0;
  for (const group of metadata.row_groups) {
    const rows = Number(group.num_rows);
    const column = group.columns.find(({ meta_data }) => meta_data?.path_in_schema.join('.') === name)?.meta_data;
    if (column === undefined) values.fill(NaN, row, row + rows);
    else decodeChunk(await chunkBytes(file, column), column, { isNullable, rows, into: values, at: row });
    row += rows;
  }
  return values;
}

async function chunkBytes(file: FileHandle, column: ColumnMetaData): Promise<Uint8Array> {
  const bytes = new Uint8Array(Number(column.total_compressed_size));
  const { bytesRead } = await file.read(bytes, 0, bytes.length, Number(column.data_page_offset));
  return bytes.subarray(0, bytesRead);
}

interface Destination {
  readonly isNullable: boolean;
  readonly rows: number;
  readonly into: Float64Array;
  readonly at: number;
}

function decodeChunk(bytes: Uint8Array, column: ColumnMetaData, { isNullable, rows, into, at }: Destination): void {
  if (column.type !== 'INT64') throw new RangeError(`the column ${column.path_in_schema.join('.')} is ${column.type}`);
  let place = 0;
  let done = 0;
  while (done < rows) {
    const header = readPageHeader(bytes, place);
    const levelsAt = place + header.headerBytes;
    const end = levelsAt + header.compressedBytes;
    if (header.type !== DATA_PAGE_V2 || header.encoding !== PLAIN || end > bytes.length || header.values === 0) {
      throw new RangeError(`the column ${column.path_in_schema.join('.')} has a page that is not understood`);
    }
    const valuesAt = levelsAt + header.repetitionBytes + header.definitionBytes;
    const stored = bytes.subarray(valuesAt, end);
    const plain = header.isCompressed ? decompressed(stored, column.codec) : stored;
    const levels = isNullable ? bytes.subarray(levelsAt + header.repetitionBytes, valuesAt) : null;
    decodeInt64Page(plain, levels, Math.min(header.values, rows - done), into, at + done);
    done += header.values;
    place = end;
  }
}

function decompressed(bytes: Uint8Array, codec: ColumnMetaData['codec']): Uint8Array {
  if (codec === 'UNCOMPRESSED' || bytes.length === 0) return bytes;
  if (codec !== 'ZSTD') throw new RangeError(`its pages are compressed with ${codec}`);
  return zstdDecompressSync(bytes);
}
