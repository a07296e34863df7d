import { realpath } from 'node:fs/promises';
import type * as DuckDbApi from '@duckdb/node-api';
import type { DuckDBConnection } from '@duckdb/node-api';
import { ExpectedError } from '../../errors/expected-error.ts';
import type { Condition } from '../index/run-filter.ts';
import { RunIndex } from '../index/run-index.ts';
import type { RunStore } from '../run-store.ts';
import { sqlText, createViews } from './views.ts';

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

export interface RunQuery {
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
