import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { readFinishedRunFile, readResultFile } from '../sealed/read-run-files.ts';
import { resultFilePath } from '../run-paths.ts';
import type { RunStore } from '../run-store.ts';
import { reasonOf } from '../../errors/expected-error.ts';
import { readInBatches } from '../../files/read-regular-file.ts';
import { inTransaction, useIndexDatabase } from './index-database.ts';
import { damagedRun, indexedMeasure, indexedRun, MEASURE_COLUMN_NAMES, RUN_COLUMN_NAMES } from './rows.ts';
import type { IndexCell, IndexedMeasure, IndexedRun } from './rows.ts';
import { conditionsSql } from './select-runs.ts';
import type { Condition } from './select-runs.ts';
import { runStamps, stampsOf } from './read-changed.ts';

const RESULTS_PER_TRANSACTION = 1_000;

/** The order of `oldestFirst`. */
const order = (direction: 'ASC' | 'DESC'): string =>
  ["coalesce(start, imported_at, '')", "coalesce(imported_at, '')", 'coalesce(import_position, -1)', 'run_id']
    .map((expression) => `${expression} ${direction}`)
    .join(', ');

/** A run that was imported. */
export type KnownSource = Pick<IndexedRun, 'run_id' | 'start' | 'imported_at'>;

type IndexRow = Record<string, SQLOutputValue>;

/**
 * Summary of the run directories in `.index.sqlite`, so that ten thousand runs do not have to be read. It is a cache: each
 * use first compares the files' stamps and reads new or changed files. A missing, outdated or damaged index is rebuilt;
 * if it cannot be written, it is kept in memory.
 */
export class RunIndex {
  readonly #store: RunStore;
  readonly #database: DatabaseSync;

  private constructor(store: RunStore, database: DatabaseSync) {
    this.#store = store;
    this.#database = database;
  }

  /** Opens the up-to-date index of a store for one operation, and closes it afterwards. */
  static use<T>(store: RunStore, work: (index: RunIndex) => T | Promise<T>): Promise<T> {
    return useIndexDatabase(store.directory, async (database) => {
      const index = new RunIndex(store, database);
      await index.#refreshRuns();
      return work(index);
    });
  }

  /** The runs that match all conditions, newest first. */
  runs(conditions: readonly Condition[] = [], limit: number | null = null): IndexedRun[] {
    const { sql, parameters } = conditionsSql(conditions);
    const columns = RUN_COLUMN_NAMES.map((column) => `"${column}"`).join(', ');
    const statement = this.#database.prepare(
      `SELECT ${columns} FROM runs WHERE ${sql} ORDER BY ${order('DESC')} LIMIT ?`,
    );
    return statement.all(...parameters, limit ?? -1).map(runOfRow);
  }

  /** Number of runs that match all conditions. */
  count(conditions: readonly Condition[] = []): number {
    const { sql, parameters } = conditionsSql(conditions);
    return Number(this.#database.prepare(`SELECT count(*) AS n FROM runs WHERE ${sql}`).get(...parameters)?.['n']);
  }

  /** SHA-256 of the imported content → the run. */
  knownSources(): Map<string, KnownSource> {
    const rows = this.#database
      .prepare('SELECT source_sha256, run_id, start, imported_at FROM runs WHERE source_sha256 IS NOT NULL')
      .all();
    return new Map(
      rows.map(({ source_sha256, ...run }) => [String(source_sha256), { ...run } as unknown as KnownSource]),
    );
  }

  /** One measure of all runs that match the conditions, oldest first. */
  async history(measure: string, conditions: readonly Condition[] = []): Promise<IndexedMeasure[]> {
    return this.#measures('measure = ? AND', [measure], conditions);
  }

  /** Every measure of the runs that match the conditions. */
  async measures(conditions: readonly Condition[] = []): Promise<IndexedMeasure[]> {
    return this.#measures('', [], conditions);
  }

  async #measures(
    demand: string,
    values: readonly string[],
    conditions: readonly Condition[],
  ): Promise<IndexedMeasure[]> {
    await this.#refreshMeasures();
    const { sql, parameters } = conditionsSql(conditions);
    const columns = MEASURE_COLUMN_NAMES.map((column) => `measures."${column}"`).join(', ');
    const rows = this.#database
      .prepare(
        `SELECT ${columns} FROM measures JOIN runs USING (run_id) WHERE ${demand} ${sql}
         ORDER BY ${order('ASC')}, position`,
      )
      .all(...values, ...parameters);
    return rows as unknown as IndexedMeasure[];
  }

  async #refreshRuns(): Promise<void> {
    const stamps = await runStamps(this.#store);
    const known = this.#stamps('runs');
    const changed = [...stamps.keys()].filter((runId) => known.get(runId) !== stamps.get(runId));
    const gone = [...known.keys()].filter((runId) => !stamps.has(runId));
    if (changed.length === 0 && gone.length === 0) return;
    const rows = await readInBatches(changed, async (runId) => {
      const row = await readFinishedRunFile(this.#store.pathOf(runId)).then(
        (run) => indexedRun(runId, run),
        (error: unknown) => damagedRun(runId, reasonOf(error)),
      );
      return { ...row, tags: JSON.stringify(row.tags), stamp: stamps.get(runId) ?? '' };
    });
    inTransaction(this.#database, () => {
      for (const table of ['runs', 'results', 'measures']) {
        const remove = this.#database.prepare(`DELETE FROM ${table} WHERE run_id = ?`);
        for (const runId of gone) remove.run(runId);
      }
      this.#insert('runs', [...RUN_COLUMN_NAMES, 'stamp'], rows);
    });
  }

  async #refreshMeasures(): Promise<void> {
    const runIds = this.#database
      .prepare('SELECT run_id FROM runs')
      .all()
      .map((row) => String(row['run_id']));
    const stamps = await stampsOf(runIds, (runId) => resultFilePath(this.#store.pathOf(runId)));
    const known = this.#stamps('results');
    const changed = runIds.filter((runId) => known.get(runId) !== stamps.get(runId));
    // In batches, so that ten thousand results are never in memory at once.
    for (let i = 0; i < changed.length; i += RESULTS_PER_TRANSACTION) {
      await this.#readMeasures(changed.slice(i, i + RESULTS_PER_TRANSACTION), stamps);
    }
  }

  async #readMeasures(runIds: readonly string[], stamps: ReadonlyMap<string, string>): Promise<void> {
    const read = await readInBatches(runIds, async (runId) => {
      const found = await readResultFile(this.#store.pathOf(runId)).then(
        ({ measures }) => ({ measures, damage: null }),
        (error: unknown) => ({ measures: [], damage: reasonOf(error) }),
      );
      return { runId, ...found };
    });
    inTransaction(this.#database, () => {
      const remove = this.#database.prepare('DELETE FROM measures WHERE run_id = ?');
      for (const runId of runIds) remove.run(runId);
      const results = read.map(({ runId, damage }) => ({ run_id: runId, stamp: stamps.get(runId) ?? '', damage }));
      this.#insert('results', ['run_id', 'stamp', 'damage'], results);
      const rows = read.flatMap(({ runId, measures }) =>
        measures.map((measure, position) => ({ ...indexedMeasure(runId, measure), position })),
      );
      this.#insert('measures', [...MEASURE_COLUMN_NAMES, 'position'], rows);
    });
  }

  #stamps(table: 'runs' | 'results'): Map<string, string> {
    const statement = this.#database.prepare(`SELECT run_id, stamp FROM ${table}`);
    statement.setReturnArrays(true);
    return new Map(statement.all() as unknown as [string, string][]);
  }

  #insert<Column extends string>(
    table: string,
    columns: readonly Column[],
    rows: readonly Readonly<Record<Column, IndexCell>>[],
  ): void {
    const names = columns.map((column) => `"${column}"`).join(', ');
    const places = columns.map(() => '?').join(', ');
    const statement = this.#database.prepare(`INSERT OR REPLACE INTO ${table} (${names}) VALUES (${places})`);
    for (const row of rows) statement.run(...columns.map((column) => row[column]));
  }
}

function runOfRow(row: IndexRow): IndexedRun {
  return { ...row, tags: JSON.parse(String(row['tags'])) as string[] } as unknown as IndexedRun;
}
