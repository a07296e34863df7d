import { copyFile } from 'node:fs/promises';
import { zstdDecompressSync } from 'node:zlib';
import type { ColumnChunk, ColumnMetaData, Statistics } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { fileWriter, ParquetWriter } from 'hyparquet-writer';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import type { RequestRecord } from '../../../core/run/record.ts';
import { DamagedRunError } from '../../errors/expected-error.ts';
import { syncPath } from '../../files/durable-file.ts';
import { openParquet, type OpenedRecords } from './read-records.ts';
import { compressed } from './records-parquet.ts';

/** Columns that are instants since the run's start, which differs between shards. */
export const INSTANT_COLUMNS = [
  'due_ns',
  'sent_ns',
  'first_content_ns',
  'first_output_ns',
  'last_content_ns',
  'end_ns',
  'planned_ns',
] as const satisfies readonly (keyof RequestRecord)[];

/**
 * Copies a Parquet file of records; its instants become later by `later_ns`. Only the pages of these columns are opened:
 * most of the bytes stay as they are. Overwrites an existing file, and syncs it to disk. Throws a `DamagedRunError` or a
 * `SchemaVersionError` as reading it does.
 */
export async function copyRecords(from: string, to: string, later_ns: number): Promise<void> {
  const opened = await openParquet(from);
  try {
    if (later_ns === 0) await copyFile(from, to);
    else await copyLater(opened, from, to, BigInt(later_ns));
  } finally {
    await opened.handle.close();
  }
  await syncPath(to);
}

async function copyLater({ file, metadata }: OpenedRecords, from: string, to: string, later_ns: bigint): Promise<void> {
  const { schema, created_by: createdBy, key_value_metadata: kvMetadata } = metadata;
  const parquet = new ParquetWriter({
    writer: fileWriter(to),
    schema,
    codec: 'ZSTD',
    compressors: { ZSTD: compressed },
    ...(createdBy === undefined ? {} : { createdBy }),
    ...(kvMetadata === undefined ? {} : { kvMetadata }),
  });
  for (const group of metadata.row_groups) {
    const start = parquet.writer.offset;
    const columns: ColumnChunk[] = [];
    for (const { meta_data: data } of group.columns) {
      if (data === undefined) throw new DamagedRunError(from, 'a row group lacks the description of a column');
      const isInstant = (INSTANT_COLUMNS as readonly string[]).includes(data.path_in_schema[0] ?? '');
      const at = Number(data.dictionary_page_offset ?? data.data_page_offset);
      const bytes = await file.slice(at, at + Number(data.total_compressed_size));
      const column = isInstant
        ? appendLater(parquet.writer, bytes, data, later_ns)
        : append(parquet.writer, bytes, data);
      if (column === null)
        throw new DamagedRunError(from, `the pages of ${data.path_in_schema[0]} are of another kind`);
      columns.push(column);
    }
    parquet.row_groups.push({
      columns,
      num_rows: group.num_rows,
      total_byte_size: columns.reduce((sum, { meta_data }) => sum + (meta_data?.total_uncompressed_size ?? 0n), 0n),
      total_compressed_size: BigInt(parquet.writer.offset - start),
    });
    parquet.num_rows += group.num_rows;
  }
  await parquet.finish();
}

type Writer = ParquetWriter['writer'];

/** Appends the pages of a column as they are. Its index of pages, which no reader requires, is left behind. */
function append(writer: Writer, bytes: ArrayBuffer, data: ColumnMetaData): ColumnChunk {
  const start = BigInt(writer.offset);
  const moved = start - (data.dictionary_page_offset ?? data.data_page_offset);
  writer.appendBytes(new Uint8Array(bytes));
  return { file_offset: start, meta_data: placedAt(data, start, data.data_page_offset + moved) };
}

/** Appends the pages of a column of instants, each later; null if there are other pages than this program writes. */
function appendLater(writer: Writer, bytes: ArrayBuffer, data: ColumnMetaData, later_ns: bigint): ColumnChunk | null {
  const reader = { view: new DataView(bytes), offset: 0 };
  const start = BigInt(writer.offset);
  let firstData: bigint | null = null;
  let uncompressed = 0;
  while (reader.offset < bytes.byteLength) {
    const header = parquetHeader(reader);
    const { dictionary_page_header: dictionary, data_page_header_v2: page } = header;
    const body = new Uint8Array(bytes, reader.offset, header.compressed_page_size);
    reader.offset += body.length;
    const encoding = (dictionary ?? page)?.encoding;
    if ((encoding !== 'PLAIN' && encoding !== 'RLE_DICTIONARY') || page?.is_compressed === false) return null;
    const levels = page === undefined ? 0 : page.repetition_levels_byte_length + page.definition_levels_byte_length;
    const values = body.subarray(levels);
    // The numbers of a dictionary are in a page of their own.
    const later = encoding === 'PLAIN' ? compressed(laterBytes(zstdDecompressSync(values), later_ns)) : values;
    const at = writer.offset;
    if (page !== undefined) firstData ??= BigInt(at);
    writePageHeader(writer, { ...header, compressed_page_size: levels + later.length });
    uncompressed += writer.offset - at + header.uncompressed_page_size;
    writer.appendBytes(body.subarray(0, levels));
    writer.appendBytes(later);
  }
  const { statistics, ...placed } = placedAt(data, start, firstData ?? start);
  const meta_data: ColumnMetaData = {
    ...placed,
    total_compressed_size: BigInt(writer.offset) - start,
    total_uncompressed_size: BigInt(uncompressed),
    ...(statistics === undefined ? {} : { statistics: laterStatistics(statistics, later_ns) }),
  };
  return { file_offset: start, meta_data };
}

function placedAt(data: ColumnMetaData, start: bigint, firstData: bigint): ColumnMetaData {
  const { dictionary_page_offset: dictionary, ...rest } = data;
  return {
    ...rest,
    ...(dictionary === undefined ? {} : { dictionary_page_offset: start }),
    data_page_offset: firstData,
  };
}

function laterBytes(bytes: Uint8Array, later_ns: bigint): Uint8Array {
  const later = new Uint8Array(bytes);
  const values = new BigInt64Array(later.buffer);
  for (let i = 0; i < values.length; i++) values[i] = BigInt.asIntN(64, (values[i] ?? 0n) + later_ns);
  return later;
}

function laterStatistics({ min_value: min, max_value: max, ...rest }: Statistics, later_ns: bigint): Statistics {
  return {
    ...rest,
    ...(typeof min === 'bigint' ? { min_value: min + later_ns } : {}),
    ...(typeof max === 'bigint' ? { max_value: max + later_ns } : {}),
  };
}
