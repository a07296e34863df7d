import type { FileHandle } from 'node:fs/promises';
import { zstdDecompressSync } from 'node:zlib';
import { parquetMetadataAsync, parquetRead, parquetSchema } from 'hyparquet';
import type { AsyncBuffer, ColumnData, Compressors, DecodedArray, FileMetaData, RowGroup } from 'hyparquet';
import { parquetHeader, readPage } from 'hyparquet/src/column.js';
import { DEFAULT_PARSERS } from 'hyparquet/src/convert.js';
import { decompressPage, readDataPage, readDataPageV2 } from 'hyparquet/src/datapage.js';
import { getTreePath } from 'hyparquet/src/schema.js';
import type { RequestRecord } from '../../../core/run/record.ts';
import { DamagedRunError, reasonOf } from '../../errors/expected-error.ts';
import { checkRegularFile, openRegularFile } from '../../files/read-regular-file.ts';
import { checkedVersion } from '../migrations/migrate.ts';
import { RECORD_COLUMNS } from './record-columns.ts';

/** In the file's own metadata; a file of version 1 has none. */
export const VERSION_KEY = 'schema_version';

const CHUNKS = 'chunk_offsets_ns' satisfies keyof RequestRecord;

/** In one piece: zlib allows at least 64 bytes. */
const compressors: Compressors = {
  ZSTD: (bytes, length) => zstdDecompressSync(bytes, { chunkSize: Math.max(64, length) }),
};

/** `withoutChunks` leaves `chunk_offsets_ns` empty: they are most of the bytes. */
export interface RecordReading {
  readonly withoutChunks?: boolean;
}

/**
 * The records of a Parquet file, in order, one row group in memory at a time; missing columns of earlier versions are
 * null. Throws if it cannot be read, a `SchemaVersionError` if it is of a later version.
 */
export async function* readParquetRecords(
  path: string,
  { withoutChunks = false }: RecordReading = {},
): AsyncGenerator<RequestRecord> {
  const fields = withoutChunks ? NAMES.filter((name) => name !== CHUNKS) : NAMES;
  for await (const group of readRecordGroups(path, fields)) {
    for (let row = 0; row < group.length; row++) yield group.copyOf(row);
  }
}

/** The same, group by group: many records are gone through in a fraction of the time. */
export async function* readRecordGroups(
  path: string,
  fields: readonly (keyof RequestRecord)[] = NAMES,
): AsyncGenerator<RecordGroup> {
  const opened = await openParquet(path);
  try {
    for (const [n, group] of opened.metadata.row_groups.entries()) yield await readGroup(opened, group, n, fields);
  } finally {
    await opened.handle.close();
  }
}

/** An open Parquet file of records. */
export interface OpenedRecords {
  readonly handle: FileHandle;
  readonly file: AsyncBuffer;
  readonly metadata: FileMetaData;
}

/** The caller closes it. Throws a `DamagedRunError` if it is no regular file, a `SchemaVersionError` if it is of a later version. */
export async function openParquet(path: string): Promise<OpenedRecords> {
  const handle = await checkRegularFile(path)
    .then(() => openRegularFile(path))
    .catch((error: unknown) => {
      throw new DamagedRunError(path, reasonOf(error));
    });
  try {
    const { size: byteLength } = await handle.stat();
    const slice = async (start: number, end = byteLength): Promise<ArrayBuffer> => {
      const bytes = new Uint8Array(end - start);
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, start);
      if (bytesRead < bytes.length) throw new RangeError('it is shorter than its footer states');
      return bytes.buffer;
    };
    const file: AsyncBuffer = { byteLength, slice };
    const metadata = await parquetMetadataAsync(file);
    const version = metadata.key_value_metadata?.find(({ key }) => key === VERSION_KEY)?.value ?? '1';
    checkedVersion('record', path, Number(version));
    return { handle, file, metadata };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Lists of whole numbers: those of a row begin at its start and end at the next one. */
interface ListColumn {
  readonly starts: Uint32Array;
  readonly values: Float64Array;
}

/** Whole numbers, NaN where there is none, or other values. */
type Column = Float64Array | ListColumn | readonly unknown[];

/** A row group in memory. */
export class RecordGroup {
  readonly length: number;
  readonly #cursor: Cursor;

  constructor(length: number, columns: ReadonlyMap<string, Column>) {
    this.length = length;
    this.#cursor = new Cursor(NAMES.map((name) => columns.get(name)));
  }

  /** The record of a row, valid until the next call: no object is made for it. What was not read is null or empty. */
  at(row: number): RequestRecord {
    this.#cursor.row = row;
    return this.#cursor as unknown as RequestRecord;
  }

  /** A record that may be kept. */
  copyOf(row: number): RequestRecord {
    const record: Record<string, unknown> = {};
    const { columns } = this.#cursor;
    for (let i = 0; i < NAMES.length; i++) record[NAMES[i] ?? ''] = VALUES[i]?.(columns[i], row);
    return record as unknown as RequestRecord;
  }
}

/** A record whose values are read from the columns, at its row, when they are needed. */
class Cursor {
  readonly columns: readonly (Column | undefined)[];
  row = 0;

  constructor(columns: readonly (Column | undefined)[]) {
    this.columns = columns;
  }
}

/** What a column of each kind holds in a row. */
const VALUE_AT: Readonly<Record<'number' | 'list' | 'other', (column: unknown, row: number) => unknown>> = {
  number: (column, row) => {
    const value = (column as Float64Array | undefined)?.[row] ?? NaN;
    return Number.isNaN(value) ? null : value;
  },
  list: (column, row) => (column === undefined ? [] : listAt(column as ListColumn, row)),
  other: (column, row) => (column as readonly unknown[] | undefined)?.[row] ?? null,
};

const valueOf = ({ kind }: (typeof RECORD_COLUMNS)[number]): ((column: unknown, row: number) => unknown) =>
  VALUE_AT[kind === 'int64' ? 'number' : kind === 'int64 list' ? 'list' : 'other'];

const NAMES = RECORD_COLUMNS.map(({ name }) => name);
const VALUES = RECORD_COLUMNS.map(valueOf);

for (const [i, name] of NAMES.entries()) {
  Object.defineProperty(Cursor.prototype, name, {
    get(this: Cursor): unknown {
      return VALUES[i]?.(this.columns[i], this.row);
    },
  });
}

function listAt({ starts, values }: ListColumn, row: number): number[] {
  const start = starts[row] ?? 0;
  const list = new Array<number>((starts[row + 1] ?? start) - start);
  for (let i = 0; i < list.length; i++) list[i] = values[start + i] ?? NaN;
  return list;
}

async function readGroup(
  { file, metadata }: OpenedRecords,
  group: RowGroup,
  n: number,
  fields: readonly (keyof RequestRecord)[],
): Promise<RecordGroup> {
  const rows = Number(group.num_rows);
  const held = columnsWithValues(group);
  const columns = new Map<string, Column>();
  const others: string[] = [];
  for (const { name, kind } of RECORD_COLUMNS) {
    if (!fields.includes(name) || !held.has(name)) continue;
    if (kind !== 'int64' && kind !== 'int64 list') others.push(name);
    else columns.set(name, await readNumbers(file, metadata, group, name, rows));
  }
  if (others.length === 0) return new RecordGroup(rows, columns);
  const onChunk = ({ columnName, columnData }: ColumnData): void => {
    const values = Array.from<unknown>(columnData);
    const before = columns.get(columnName);
    // Pages of one column come one after the other.
    columns.set(columnName, Array.isArray(before) ? before.concat(values) : values);
  };
  const rowStart = metadata.row_groups.slice(0, n).reduce((sum, { num_rows }) => sum + Number(num_rows), 0);
  await parquetRead({ file, metadata, compressors, columns: others, rowStart, rowEnd: rowStart + rows, onChunk });
  return new RecordGroup(rows, columns);
}

/** The columns of a group that are not null in each row, as their statistics have it. */
function columnsWithValues({ columns }: RowGroup): Set<string> {
  const held = columns.filter(({ meta_data: data }) => data?.statistics?.null_count !== data?.num_values);
  return new Set(held.flatMap(({ meta_data }) => meta_data?.path_in_schema[0] ?? []));
}

/** A column of 64-bit numbers or of lists of them. hyparquet makes an object of each, which takes most of the time. */
async function readNumbers(
  file: AsyncBuffer,
  metadata: FileMetaData,
  { columns }: RowGroup,
  name: string,
  rows: number,
): Promise<Column> {
  const data = columns.find(({ meta_data }) => meta_data?.path_in_schema[0] === name)?.meta_data;
  if (data === undefined) throw new RangeError(`a row group lacks ${name}`);
  const schemaPath = getTreePath(parquetSchema(metadata), data.path_in_schema);
  const element = schemaPath.at(-1)?.element ?? { name };
  const decoder = {
    ...data,
    pathInSchema: data.path_in_schema,
    schemaPath,
    element,
    compressors,
    parsers: DEFAULT_PARSERS,
  };
  const start = Number(data.dictionary_page_offset ?? data.data_page_offset);
  const bytes = await file.slice(start, start + Number(data.total_compressed_size));
  const reader = { view: new DataView(bytes), offset: 0 };
  const filled =
    data.path_in_schema.length > 1 ? new FilledLists(rows, Number(data.num_values)) : new FilledNumbers(rows);
  let dictionary: Float64Array = new Float64Array();
  while (reader.offset < bytes.byteLength) {
    const header = parquetHeader(reader);
    if (header.type === 'DICTIONARY_PAGE') {
      dictionary = numbersOf(readPage(reader, header, decoder, undefined, undefined, 0).data ?? []);
      continue;
    }
    const body = new Uint8Array(bytes, reader.offset, header.compressed_page_size);
    reader.offset += header.compressed_page_size;
    const { data_page_header: first } = header;
    const page =
      first === undefined
        ? readDataPageV2(body, header, decoder)
        : readDataPage(decompressPage(body, header.uncompressed_page_size, data.codec, compressors), first, decoder);
    const encoding = (first ?? header.data_page_header_v2)?.encoding ?? 'PLAIN';
    const values = encoding.endsWith('DICTIONARY')
      ? Float64Array.from(page.dataPage as readonly number[], (place) => dictionary[place] ?? NaN)
      : numbersOf(page.dataPage);
    filled.add(values, page.definitionLevels, page.repetitionLevels);
  }
  return filled.column;
}

const TWO_32 = 2 ** 32;

/** Without making an object of each: the halves of a number, least significant first. */
function numbersOf(values: DecodedArray): Float64Array {
  if (!(values instanceof BigInt64Array)) return Float64Array.from(values as readonly number[], Number);
  const halves = new Int32Array(values.buffer, values.byteOffset, 2 * values.length);
  const numbers = new Float64Array(values.length);
  for (let i = 0; i < numbers.length; i++) {
    numbers[i] = (halves[2 * i + 1] ?? 0) * TWO_32 + ((halves[2 * i] ?? 0) >>> 0);
  }
  return numbers;
}

/** The numbers of a flat column, page by page. */
class FilledNumbers {
  readonly column: Float64Array;
  #rows = 0;

  constructor(rows: number) {
    this.column = new Float64Array(rows).fill(NaN);
  }

  add(values: Float64Array, definitions: readonly number[] | undefined): void {
    if (definitions === undefined || definitions.length === 0) {
      this.column.set(values, this.#rows);
      this.#rows += values.length;
      return;
    }
    let at = 0;
    for (const level of definitions) {
      if (level > 0) this.column[this.#rows] = values[at++] ?? NaN;
      this.#rows += 1;
    }
  }
}

/** The lists of a column, page by page: each has an entry without a value when it is empty. */
class FilledLists {
  readonly #starts: Uint32Array;
  readonly #values: Float64Array;
  #rows = 0;
  #length = 0;

  constructor(rows: number, entries: number) {
    this.#starts = new Uint32Array(rows + 1);
    this.#values = new Float64Array(entries);
  }

  add(values: Float64Array, definitions: readonly number[] | undefined, repetitions: readonly number[]): void {
    let at = 0;
    for (let entry = 0; entry < repetitions.length; entry++) {
      if (repetitions[entry] === 0) this.#starts[this.#rows++] = this.#length;
      if ((definitions?.[entry] ?? 1) > 0) this.#values[this.#length++] = values[at++] ?? NaN;
    }
  }

  get column(): ListColumn {
    this.#starts[this.#rows] = this.#length;
    return { starts: this.#starts, values: this.#values };
  }
}
