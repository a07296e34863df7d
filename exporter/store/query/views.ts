import { existsSync, closeSync, fstatSync, readSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { PERCENTILE_NAMES } from '../../../core/stats/percentiles.ts';
import { reasonOf } from '../../errors/expected-error.ts';
import { openRegularFileSync } from '../../files/read-regular-file.ts';
import { MEASURE_COLUMNS, RUN_COLUMNS, type IndexedMeasure, type IndexedRun } from '../index/rows.ts';
import type { Condition } from '../index/run-filter.ts';
import type { RunIndex } from '../index/run-index.ts';
import { RECORD_COLUMNS } from '../records/record-columns.ts';
import type { RunStore } from '../run-store.ts';

/** A string as an SQL literal. */
export const sqlText = (text: string): string => `'${text.replaceAll("'", "''")}'`;

interface Table<Row> {
  readonly name: string;
  /** Column → database type. */
  readonly types: readonly (readonly [name: string, type: string])[];
  readonly row: (row: Row) => object;
}

const RUN_TYPES: Readonly<Partial<Record<keyof IndexedRun, string>>> = {
  start: 'TIMESTAMP',
  end: 'TIMESTAMP',
  concurrency: 'INTEGER',
  request_rate: 'DOUBLE',
  isl: 'DOUBLE',
  osl: 'DOUBLE',
  step: 'INTEGER',
  repeat: 'INTEGER',
  tags: 'VARCHAR[]',
};

/** One row per run. Times are UTC. */
const RUNS_TABLE: Table<IndexedRun> = {
  name: 'runs',
  types: RUN_COLUMNS.filter((column) => column !== 'damage').map((name) => [name, RUN_TYPES[name] ?? 'VARCHAR']),
  row: (run) => run,
};

const MEASURE_NUMBERS: readonly string[] = ['value', 'effective_n', 'mean', 'std', 'min', 'max', ...PERCENTILE_NAMES];

/** One row per measure of a run, base units. */
const MEASURES_TABLE: Table<IndexedMeasure> = {
  name: 'measures',
  types: MEASURE_COLUMNS.map((name) => [
    name,
    name === 'n' ? 'BIGINT' : MEASURE_NUMBERS.includes(name) ? 'DOUBLE' : 'VARCHAR',
  ]),
  row: (measure) => measure,
};

/** Number of rows per JSON text that is inserted into the database. */
const ROWS_AT_ONCE = 10_000;

/** Creates and fills the table. */
async function fillTable<Row>(
  connection: DuckDBConnection,
  { name, types, row }: Table<Row>,
  rows: readonly Row[],
): Promise<void> {
  const columns = types.map(([column, type]) => `"${column}" ${type}`).join(', ');
  await connection.run(`CREATE TABLE ${name} (${columns})`);
  const shape = JSON.stringify([Object.fromEntries(types)]);
  for (let i = 0; i < rows.length; i += ROWS_AT_ONCE) {
    const some = JSON.stringify(rows.slice(i, i + ROWS_AT_ONCE).map(row));
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
export async function createViews(connection: DuckDBConnection, request: ViewsRequest): Promise<void> {
  const { index, store, sql, conditions, leftOut } = request;
  const runs = index.runs(conditions);
  for (const { run_id, damage } of runs) if (damage !== null) leftOut(`run ${run_id} is left out: ${damage}`);
  const whole = runs.filter(({ damage }) => damage === null);
  const isNamed = (view: string): boolean => new RegExp(`\\b${view}\\b`, 'i').test(sql) || /\bshow\b/i.test(sql);
  await fillTable(connection, RUNS_TABLE, whole);
  await fillTable(connection, MEASURES_TABLE, isNamed('measures') ? await index.measures(conditions) : []);
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
