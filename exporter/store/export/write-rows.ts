import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { zstdCompressSync } from 'node:zlib';
import { fileWriter, ParquetWriter } from 'hyparquet-writer';
import { replaceWhenWritten, outputFile } from '../../files/durable-file.ts';
import { columnSchema, storedValue } from '../records/record-columns.ts';
import { rowText, type ExportRow, type RowColumn } from './run-rows.ts';

const ROWS_PER_GROUP = 100_000;
const ELEMENTS_PER_GROUP = 1_000_000;

/**
 * Writes rows to a file, which exists only when it is complete, or through to a device or FIFO. Throws the file system's
 * error.
 */
export async function writeRows(
  path: string,
  columns: readonly RowColumn[],
  rows: AsyncIterable<ExportRow>,
  format: 'csv' | 'jsonl' | 'parquet',
): Promise<void> {
  const target = await outputFile(path);
  if (!target.replaceable) {
    // The writer opens its file several times, at each of which the reader of a FIFO would see an end.
    if (format === 'parquet') throw new Error(`${path} is not a regular file, which Parquet requires`);
    await pipeline(rowText(columns, rows, format), createWriteStream(target.path));
    return;
  }
  await replaceWhenWritten(target.path, (temporary) =>
    format === 'parquet'
      ? writeParquet(temporary, columns, rows)
      : pipeline(rowText(columns, rows, format), createWriteStream(temporary)),
  );
}

async function writeParquet(
  path: string,
  columns: readonly RowColumn[],
  rows: AsyncIterable<ExportRow>,
): Promise<void> {
  const parquet = new ParquetWriter({
    writer: fileWriter(path),
    schema: [
      { name: 'row', num_children: columns.length },
      ...columns.flatMap(({ name, kind }) => columnSchema(name, kind, true)),
    ],
    codec: 'ZSTD',
    compressors: { ZSTD: (bytes) => zstdCompressSync(bytes) },
    createdBy: 'llmbench',
  });
  let group: ExportRow[] = [];
  let elements = 0;
  const write = async (): Promise<void> => {
    const some = group;
    group = [];
    elements = 0;
    await parquet.write({
      columnData: columns.map(({ name, kind }) => ({ name, data: some.map((row) => storedValue(row[name], kind)) })),
      rowGroupSize: some.length,
    });
  };
  for await (const row of rows) {
    group.push(row);
    for (const value of Object.values(row)) if (Array.isArray(value)) elements += value.length;
    if (group.length >= ROWS_PER_GROUP || elements >= ELEMENTS_PER_GROUP) await write();
  }
  if (group.length > 0) await write();
  await parquet.finish();
}
