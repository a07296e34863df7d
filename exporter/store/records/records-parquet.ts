import { setImmediate as nextTurn } from 'node:timers/promises';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { asyncBufferFromFile, parquetMetadataAsync, parquetRead, type ColumnData, type RowGroup } from 'hyparquet';
import { fileWriter, ParquetWriter } from 'hyparquet-writer';
import type { RequestRecord } from '../../../core/run/record.ts';
import { syncPath } from '../../files/durable-file.ts';
import { checkedVersion, SCHEMA_VERSIONS } from '../migrations/migrate.ts';
import { storedValue, RECORD_COLUMNS, RECORD_SCHEMA } from './record-columns.ts';
import { checkRegularFile } from '../../files/read-regular-file.ts';
import { DamagedRunError, reasonOf } from '../../errors/expected-error.ts';

/** A row group ends at whichever limit comes first, so that memory does not depend on the length of responses. */
const ROWS_PER_GROUP = 16_384;
const CHUNKS_PER_GROUP = 100_000;
/**
 * The footer describes each group and is in memory while the file is written and read: a long file has larger groups.
 */
const GROUPS_OF_LONG_FILE = 100;
const CHUNKS_PER_GROUP_OF_LONG_FILE = 300_000;

/** In the file's own metadata; a file of version 1 has none. */
const VERSION_KEY = 'schema_version';

const CHUNKS = 'chunk_offsets_ns' satisfies keyof RequestRecord;

/** Pages of a column without values, which most files have two dozen of, by their content. */
const emptyPages = new Map<string, Uint8Array>();
const EMPTY_PAGE_BYTES = 64;
const MAX_EMPTY_PAGES = 1_000;

/** A compressor takes longer to make than such a page to compress. */
function compressed(bytes: Uint8Array): Uint8Array {
  if (bytes.length > EMPTY_PAGE_BYTES) return zstdCompressSync(bytes);
  const content = Buffer.from(bytes).toString('latin1');
  const known = emptyPages.get(content);
  if (known !== undefined) return known;
  const made = zstdCompressSync(bytes);
  if (emptyPages.size < MAX_EMPTY_PAGES) emptyPages.set(content, made);
  return made;
}

/**
 * Writes records to a Parquet file, zstd, row group by row group: at most one group is in memory. Every column is a
 * key of `RequestRecord`.
 */
export class ParquetRecordsWriter {
  readonly #path: string;
  readonly #parquet: ParquetWriter;
  #rows: RequestRecord[] = [];
  #chunks = 0;
  #groups = 0;

  /** Overwrites an existing file. Throws the file system's error. */
  constructor(path: string, schemaVersion: number = SCHEMA_VERSIONS.record) {
    this.#path = path;
    this.#parquet = new ParquetWriter({
      writer: fileWriter(path),
      schema: RECORD_SCHEMA,
      codec: 'ZSTD',
      // Another codec than the built-in one needs its compressor; the key SNAPPY must stay away (it would remove that).
      compressors: { ZSTD: compressed },
      createdBy: 'llmbench',
      kvMetadata: [{ key: VERSION_KEY, value: String(schemaVersion) }],
    });
  }

  async append(record: RequestRecord): Promise<void> {
    this.#rows.push(record);
    this.#chunks += record.chunk_offsets_ns.length;
    const most = this.#groups < GROUPS_OF_LONG_FILE ? CHUNKS_PER_GROUP : CHUNKS_PER_GROUP_OF_LONG_FILE;
    if (this.#rows.length >= ROWS_PER_GROUP || this.#chunks >= most) {
      await this.#writeGroup();
      // Encoding a group blocks the thread for a while: let pending work (a scrape of /metrics) run first.
      await nextTurn();
    }
  }

  /** Writes the remaining rows and the footer, and syncs the file to disk. */
  async close(): Promise<void> {
    if (this.#rows.length > 0) await this.#writeGroup();
    await this.#parquet.finish();
    await syncPath(this.#path);
  }

  async #writeGroup(): Promise<void> {
    const rows = this.#rows;
    this.#rows = [];
    this.#chunks = 0;
    this.#groups += 1;
    await this.#parquet.write({
      columnData: RECORD_COLUMNS.map(({ name, kind }) => ({
        name,
        data: rows.map((row) => storedValue(row[name], kind)),
        // Times since sending rarely repeat, and statistics of them are not used for queries.
        ...(name === CHUNKS && { encoding: 'PLAIN' as const, statistics: false }),
      })),
      rowGroupSize: rows.length,
    });
  }
}

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
  const names = RECORD_COLUMNS.map(({ name }) => name);
  if (!withoutChunks) yield* readParquetFields(path, names);
  else {
    const others = names.filter((name) => name !== CHUNKS);
    for await (const record of readParquetFields(path, others)) yield { ...record, [CHUNKS]: [] };
  }
}

/** The same, reading only some fields. */
export async function* readParquetFields<Name extends keyof RequestRecord>(
  path: string,
  fields: readonly Name[],
): AsyncGenerator<Pick<RequestRecord, Name>> {
  await checkRegularFile(path).catch((error: unknown) => {
    throw new DamagedRunError(path, reasonOf(error));
  });
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  const version = metadata.key_value_metadata?.find(({ key }) => key === VERSION_KEY)?.value ?? '1';
  checkedVersion('record', path, Number(version));
  const compressors = { ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes) };
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const rows = Number(group.num_rows);
    const held = columnsWithValues(group);
    const columns = new Map<string, readonly unknown[]>();
    const onChunk = ({ columnName, columnData }: ColumnData): void => {
      // Pages of one column come one after the other.
      const before = columns.get(columnName) ?? [];
      const values = Array.from<unknown>(columnData);
      columns.set(columnName, before.length === 0 ? values : before.concat(values));
    };
    const names = fields.filter((name) => held.has(name));
    const rowEnd = rowStart + rows;
    await parquetRead({ file, metadata, compressors, columns: names, rowStart, rowEnd, onChunk });
    const values = fields.map((name) => columns.get(name));
    for (let row = 0; row < rows; row++) yield recordAt(row, fields, values);
    rowStart = rowEnd;
  }
}

/** The columns of a group that are not null in each row, as their statistics have it. */
function columnsWithValues({ columns }: RowGroup): Set<string> {
  const held = columns.filter(({ meta_data: data }) => data?.statistics?.null_count !== data?.num_values);
  return new Set(held.flatMap(({ meta_data }) => meta_data?.path_in_schema[0] ?? []));
}

function recordAt<Name extends keyof RequestRecord>(
  row: number,
  fields: readonly Name[],
  values: readonly (readonly unknown[] | undefined)[],
): Pick<RequestRecord, Name> {
  const record: Record<string, unknown> = {};
  for (let i = 0; i < fields.length; i++) record[fields[i] as Name] = loaded(values[i]?.[row]);
  return record as Pick<RequestRecord, Name>;
}

function loaded(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(Number);
  return value ?? null;
}
