import type { DuckDBConnection } from '@duckdb/node-api';
import { PERCENTILE_NAMES } from '../../../core/stats/percentiles.ts';
import type { IndexedMeasure, IndexedRun } from '../index/rows.ts';
import { MEASURE_COLUMNS, RUN_COLUMNS } from '../index/rows.ts';

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
export const RUNS_TABLE: Table<IndexedRun> = {
  name: 'runs',
  types: RUN_COLUMNS.filter((column) => column !== 'damage').map((name) => [name, RUN_TYPES[name] ?? 'VARCHAR']),
  row: (run) => run,
};

const MEASURE_NUMBERS: readonly string[] = ['value', 'effective_n', 'mean', 'std', 'min', 'max', ...PERCENTILE_NAMES];

/** One row per measure of a run, base units. */
export const MEASURES_TABLE: Table<IndexedMeasure> = {
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
export async function fillTable<Row>(
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
