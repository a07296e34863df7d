import { realpath, readdir } from 'node:fs/promises';
import { existsSync, closeSync, fstatSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type * as DuckDbApi from '@duckdb/node-api';
import type { DuckDBConnection } from '@duckdb/node-api';
import { ExpectedError, reasonOf } from '../../errors/expected-error.ts';
import type { Condition } from '../index/select-runs.ts';
import { RunIndex } from '../index/run-index.ts';
import type { RunStore } from '../run-store.ts';
import { openRegularFileSync } from '../../files/read-regular-file.ts';
import { MEASURE_COLUMNS, RUN_COLUMNS, type ColumnContent, type IndexedRun } from '../index/rows.ts';
import { RECORD_COLUMNS } from '../records/record-columns.ts';

/** A JSON value. Integers beyond 2^53 are strings, instants RFC 3339. */
export type QueryValue =
  string | number | boolean | null | readonly QueryValue[] | { readonly [key: string]: QueryValue };

/** Converts a value of the database to JSON. */
function queryValue(value: unknown): QueryValue {
  switch (typeof value) {
    case 'bigint':
      return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
    case 'number':
      // JSON has no NaN and no infinity.
      return Number.isFinite(value) ? value : String(value);
    case 'string':
    case 'boolean':
      return value;
    case 'object':
      return objectValue(value);
    default:
      return null;
  }
}

function objectValue(value: object | null): QueryValue {
  if (value === null) return null;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(queryValue);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, queryValue(member)]));
}

interface RunQuery {
  /** One SELECT (or DESCRIBE, SHOW, SUMMARIZE, VALUES, FROM …) over the views. */
  readonly sql: string;
  /** Only runs that match these conditions are in the views. */
  readonly conditions: readonly Condition[];
  /** Receives one line for each unreadable file, which is left out. */
  readonly leftOut: (line: string) => void;
}

export interface QueryRows {
  readonly columns: readonly string[];
  /** Rows in the chunks of the database. */
  readonly batches: AsyncIterable<readonly (readonly QueryValue[])[]>;
}

/**
 * Runs an SQL query over the stored runs, with the views `runs`, `measures`, `records` and `server_samples`. The
 * database is in memory and restricted before the query: no network, no extensions, no files except those of the runs
 * directory, and one read-only statement. Throws an `ExpectedError` with a clear message if DuckDB is not installed or the
 * statement is rejected or wrong.
 */
export async function queryRuns<T>(
  store: RunStore,
  query: RunQuery,
  consume: (rows: QueryRows) => Promise<T>,
): Promise<T> {
  const { DuckDBInstance, StatementType } = await loadDuckDb();
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    await closeDoors(connection, await realpath(store.directory).catch(() => store.directory));
    await RunIndex.use(store, (index) => createViews(connection, { store, index, ...query }));
    await requireReading(connection, query.sql);
    const statement = await connection.prepare(query.sql).catch(refused);
    if (statement.statementType !== StatementType.SELECT) throw new ExpectedError('refused', ONLY_READING);
    const result = await statement.stream().catch(refused);
    const batches = result.yieldRowsJs();
    return await consume({ columns: result.deduplicatedColumnNames(), batches: plainRows(batches) });
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

type DuckDb = Pick<typeof DuckDbApi, 'DuckDBInstance' | 'StatementType'>;

async function loadDuckDb(): Promise<DuckDb> {
  try {
    return await import('@duckdb/node-api');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error;
    throw new ExpectedError(
      'refused',
      'SQL over runs needs the package @duckdb/node-api, which is not installed: npm install @duckdb/node-api',
    );
  }
}

/**
 * Requires one read-only statement. Checked by DuckDB's parser without executing: preparing a writing statement creates
 * its file, and EXPLAIN ANALYZE executes its statement.
 */
async function requireReading(connection: DuckDBConnection, sql: string): Promise<void> {
  const response = await connection.runAndReadAll(`SELECT json_serialize_sql(${sqlText(sql)})::VARCHAR`);
  const parsed = JSON.parse(String(response.getRows()[0]?.[0])) as ParsedSql;
  if (parsed.error_type === 'parser')
    throw new ExpectedError('refused', parsed.error_message ?? 'the statement cannot be parsed');
  if (parsed.error || parsed.statements === undefined) throw new ExpectedError('refused', ONLY_READING);
  if (parsed.statements.length !== 1)
    throw new ExpectedError('refused', `one statement is expected, not ${parsed.statements.length}`);
}

interface ParsedSql {
  readonly error: boolean;
  readonly error_type?: string;
  readonly error_message?: string;
  readonly statements?: readonly unknown[];
}

const ONLY_READING = 'only statements that read are allowed: SELECT, FROM, WITH, VALUES, DESCRIBE, SUMMARIZE';

async function closeDoors(connection: DuckDBConnection, directory: string): Promise<void> {
  await connection.run(`SET temp_directory = ''`);
  await connection.run(`SET allowed_directories = [${sqlText(`${directory}/`)}]`);
  await connection.run('SET enable_external_access = false');
  await connection.run('SET lock_configuration = true');
}

async function* plainRows(
  batches: AsyncIterable<readonly (readonly unknown[])[]>,
): AsyncGenerator<readonly (readonly QueryValue[])[]> {
  try {
    for await (const rows of batches) yield rows.map((row) => row.map(queryValue));
  } catch (error) {
    refused(error);
  }
}

/** DuckDB's own message, without the excerpt of the statement. */
function refused(error: unknown): never {
  const reason = error instanceof Error ? (error.message.split('\n\nLINE ')[0] ?? '').trim() : String(error);
  throw new ExpectedError('refused', reason, { cause: error });
}

/** A string as an SQL literal. */
const sqlText = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Types of the database; times are UTC. */
const COLUMN_TYPES: Readonly<Record<ColumnContent, string>> = {
  ...{ text: 'VARCHAR', time: 'TIMESTAMP', texts: 'VARCHAR[]' },
  ...{ integer: 'BIGINT', number: 'DOUBLE' },
};

/** Number of rows per JSON text that is inserted into the database. */
const ROWS_AT_ONCE = 10_000;

/** Creates and fills a table with these of the rows' columns, in base units. */
async function fillTable(
  connection: DuckDBConnection,
  name: string,
  columns: readonly (readonly [name: string, content: ColumnContent])[],
  rows: readonly object[],
): Promise<void> {
  const types = columns.map(([column, content]) => [column, COLUMN_TYPES[content]]);
  await connection.run(`CREATE TABLE ${name} (${types.map(([column, type]) => `"${column}" ${type}`).join(', ')})`);
  const shape = JSON.stringify([Object.fromEntries(types)]);
  for (let i = 0; i < rows.length; i += ROWS_AT_ONCE) {
    const some = JSON.stringify(rows.slice(i, i + ROWS_AT_ONCE));
    await connection.run(
      `INSERT INTO ${name} BY NAME SELECT unnest(from_json($rows::JSON, '${shape}'), recursive := true)`,
      { rows: some },
    );
  }
}

interface ViewsRequest {
  readonly store: RunStore;
  readonly index: RunIndex;
  readonly sql: string;
  readonly conditions: readonly Condition[];
  readonly leftOut: (line: string) => void;
}

const RECORD_TYPES = {
  int64: 'BIGINT',
  int32: 'INTEGER',
  boolean: 'BOOLEAN',
  string: 'VARCHAR',
  'int64 list': 'BIGINT[]',
};

/** Columns with their types. */
type Shape = readonly (readonly [name: string, type: string])[];

const RECORD_SHAPE: Shape = [
  ['run_id', 'VARCHAR'],
  ...RECORD_COLUMNS.map(({ name, kind }) => [name, RECORD_TYPES[kind]] as const),
];

/** The columns of `servers.parquet`. */
const SAMPLE_SHAPE: Shape = [
  ['run_id', 'VARCHAR'],
  ['target', 'VARCHAR'],
  ['name', 'VARCHAR'],
  ['family', 'VARCHAR'],
  ['type', 'VARCHAR'],
  ['labels', 'VARCHAR'],
  ['le', 'VARCHAR'],
  ['time_ns', 'BIGINT'],
  ['value', 'DOUBLE'],
];

/** Creates the views that the statement names, to avoid reading files that are not queried. */
async function createViews(connection: DuckDBConnection, request: ViewsRequest): Promise<void> {
  const { index, store, sql, conditions, leftOut } = request;
  const runs = index.runs(conditions);
  for (const { run_id, damage } of runs) if (damage !== null) leftOut(`run ${run_id} is left out: ${damage}`);
  const whole = runs.filter(({ damage }) => damage === null);
  const isNamed = (view: string): boolean => new RegExp(`\\b${view}\\b`, 'i').test(sql) || /\bshow\b/i.test(sql);
  const runColumns = Object.entries(RUN_COLUMNS).filter(([name]) => name !== 'damage');
  await fillTable(connection, 'runs', runColumns, whole);
  const measures = isNamed('measures') ? await index.measures(conditions) : [];
  await fillTable(connection, 'measures', Object.entries(MEASURE_COLUMNS), measures);
  const recordFiles = isNamed('records') ? await filesOf(store, whole, recordPaths) : [];
  await createFileView(connection, 'records', RECORD_SHAPE, usable(recordFiles, leftOut));
  const sampleFiles = isNamed('server_samples') ? await filesOf(store, whole, samplePaths) : [];
  await createFileView(connection, 'server_samples', SAMPLE_SHAPE, usable(sampleFiles, leftOut));
}

/** A view over Parquet files that have some of the columns of `shape`; missing columns are null. */
async function createFileView(
  connection: DuckDBConnection,
  name: string,
  shape: Shape,
  files: readonly string[],
): Promise<void> {
  const nothing = shape.map(([column, type]) => `NULL::${type} AS "${column}"`).join(', ');
  const rows =
    files.length === 0
      ? ''
      : `UNION ALL BY NAME
         SELECT regexp_extract(filename, '([^/\\\\]+)[/\\\\](records[/\\\\])?[^/\\\\]+$', 1) AS run_id, * EXCLUDE (filename)
         FROM read_parquet([${files.map(sqlText).join(', ')}], union_by_name = true, filename = true)`;
  await connection.run(`CREATE VIEW ${name} AS SELECT ${nothing} WHERE false ${rows}`);
}

type PathsOf = (folder: string) => Promise<string[]>;

async function filesOf(store: RunStore, runs: readonly IndexedRun[], pathsOf: PathsOf): Promise<string[]> {
  const files: string[] = [];
  for (const { run_id } of runs) files.push(...(await pathsOf(await store.wholePathOf(run_id))));
  return files;
}

async function recordPaths(folder: string): Promise<string[]> {
  const records = join(folder, 'records');
  if (!existsSync(records)) return [];
  return (await readdir(records)).filter((name) => name.endsWith('.parquet')).map((name) => join(records, name));
}

function samplePaths(folder: string): Promise<string[]> {
  const path = join(folder, 'servers.parquet');
  return Promise.resolve(existsSync(path) ? [path] : []);
}

function usable(files: readonly string[], leftOut: (line: string) => void): string[] {
  return files.filter((file) => {
    const damage = parquetDamage(file);
    if (damage !== null) leftOut(`${file} is left out: ${damage}`);
    return damage === null;
  });
}

const MAGIC = 'PAR1';
/** The magic number, the length of the footer and the magic number again. */
const MIN_BYTES = 12;

/** The problem with the frame of a Parquet file, without reading its content; null if there is none. */
function parquetDamage(path: string): string | null {
  try {
    const file = openRegularFileSync(path);
    try {
      return frameDamage(file, fstatSync(file).size);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return reasonOf(error);
  }
}

function frameDamage(file: number, size: number): string | null {
  if (size < MIN_BYTES) return 'it is too short for a Parquet file';
  const head = Buffer.alloc(4);
  const tail = Buffer.alloc(8);
  readSync(file, head, 0, 4, 0);
  readSync(file, tail, 0, 8, size - 8);
  if (head.toString('latin1') !== MAGIC || tail.toString('latin1', 4) !== MAGIC) {
    return 'it is not a Parquet file, or truncated';
  }
  return tail.readUInt32LE(0) + MIN_BYTES > size ? 'its footer is damaged' : null;
}
