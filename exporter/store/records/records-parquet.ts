import { setImmediate as nextTurn } from 'node:timers/promises';
import { zstdCompressSync } from 'node:zlib';
import { fileWriter, ParquetWriter } from 'hyparquet-writer';
import type { RequestRecord } from '../../../core/run/record.ts';
import { syncPath } from '../../files/durable-file.ts';
import { SCHEMA_VERSIONS } from '../migrations/migrate.ts';
import { recordSchema, storedValue, RECORD_COLUMNS } from './record-columns.ts';
import { VERSION_KEY } from './read-records.ts';

/** A row group ends at whichever limit comes first, so that memory does not depend on the length of responses. */
const ROWS_PER_GROUP = 16_384;
const CHUNKS_PER_GROUP = 100_000;
/**
 * The footer describes each group and is in memory while the file is written and read: a long file has larger groups.
 */
const GROUPS_OF_LONG_FILE = 100;
const CHUNKS_PER_GROUP_OF_LONG_FILE = 300_000;

const CHUNKS = 'chunk_offsets_ns' satisfies keyof RequestRecord;

/** Pages of a column without values, which most files have two dozen of, by their content. */
const emptyPages = new Map<string, Uint8Array>();
const EMPTY_PAGE_BYTES = 64;
const MAX_EMPTY_PAGES = 1_000;

/** A compressor takes longer to make than such a page to compress. */
export function compressed(bytes: Uint8Array): Uint8Array {
  if (bytes.length > EMPTY_PAGE_BYTES) return zstdCompressSync(bytes);
  const content = Buffer.from(bytes).toString('latin1');
  const known = emptyPages.get(content);
  if (known !== undefined) return known;
  const made = zstdCompressSync(bytes);
  if (emptyPages.size < MAX_EMPTY_PAGES) emptyPages.set(content, made);
  return made;
}

export interface RecordsWriting {
  /** `with values`: a file of one row group lacks columns in which each row is null, but the most used; default: it has all. */
  readonly columns?: 'all' | 'with values';
  readonly schemaVersion?: number;
}

/**
 * Writes records to a Parquet file, zstd, row group by row group: at most one group is in memory. Every column is a
 * key of `RequestRecord`.
 */
export class ParquetRecordsWriter {
  readonly #path: string;
  readonly #writing: Required<RecordsWriting>;
  #columns = RECORD_COLUMNS;
  #parquet: ParquetWriter | null = null;
  #rows: RequestRecord[] = [];
  #chunks = 0;
  #groups = 0;

  /** Overwrites an existing file. */
  constructor(path: string, { columns = 'all', schemaVersion = SCHEMA_VERSIONS.record }: RecordsWriting = {}) {
    this.#path = path;
    this.#writing = { columns, schemaVersion };
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

  /** Writes the remaining rows and the footer, and syncs the file to disk. Throws the file system's error. */
  async close(): Promise<void> {
    if (this.#groups === 0 && this.#writing.columns === 'with values') this.#columns = columnsWithValues(this.#rows);
    if (this.#rows.length > 0) await this.#writeGroup();
    await this.#opened().finish();
    await syncPath(this.#path);
  }

  #opened(): ParquetWriter {
    return (this.#parquet ??= new ParquetWriter({
      writer: fileWriter(this.#path),
      schema: recordSchema(this.#columns),
      codec: 'ZSTD',
      // Another codec than the built-in one needs its compressor; the key SNAPPY must stay away (it would remove that).
      compressors: { ZSTD: compressed },
      createdBy: 'llmbench',
      kvMetadata: [{ key: VERSION_KEY, value: String(this.#writing.schemaVersion) }],
    }));
  }

  async #writeGroup(): Promise<void> {
    const rows = this.#rows;
    this.#rows = [];
    this.#chunks = 0;
    this.#groups += 1;
    await this.#opened().write({
      columnData: this.#columns.map(({ name, kind }) => ({
        name,
        data: rows.map((row) => storedValue(row[name], kind)),
        // Times since sending rarely repeat, and statistics of them are not used for queries.
        ...(name === CHUNKS && { encoding: 'PLAIN' as const, statistics: false }),
      })),
      rowGroupSize: rows.length,
    });
  }
}

/** What queries over the files of many runs name: there is such a column in each file. */
const IN_EVERY_FILE: ReadonlySet<keyof RequestRecord> = new Set<keyof RequestRecord>([
  ...(['due_ns', 'first_content_ns', 'last_content_ns'] as const),
  ...(['reason', 'http_status', 'input_tokens', 'output_tokens'] as const),
]);

function columnsWithValues(rows: readonly RequestRecord[]): typeof RECORD_COLUMNS {
  const isKept = ({ name, nullable }: (typeof RECORD_COLUMNS)[number]): boolean =>
    !nullable || IN_EVERY_FILE.has(name) || rows.some((row) => row[name] != null);
  return RECORD_COLUMNS.filter(isKept);
}
