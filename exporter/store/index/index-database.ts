import type * as Sqlite from 'node:sqlite';
import type { DatabaseSync } from 'node:sqlite';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../errors/expected-error.ts';
import { MEASURE_COLUMNS, RUN_COLUMNS, type ColumnContent } from './rows.ts';

const EXPERIMENTAL = /^SQLite is an experimental feature/;

/** `node:sqlite`, without the experimental warning of Node 22; all other warnings are printed. */
export function loadSqlite(): typeof Sqlite {
  const emitWarning = Reflect.get(process, 'emitWarning') as (...given: readonly unknown[]) => void;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
    if (!EXPERIMENTAL.test(String(warning))) Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  try {
    return process.getBuiltinModule('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Changes with the tables or their content, also with what is kept as JSON: an index of another version is rebuilt. */
export const INDEX_VERSION = 8;

const TYPES: Readonly<Record<ColumnContent, string>> = {
  ...{ text: 'TEXT', time: 'TEXT', texts: 'TEXT' },
  ...{ integer: 'INTEGER', number: 'REAL' },
};

const columnsSql = (columns: Readonly<Record<string, ColumnContent>>): string =>
  Object.entries(columns)
    .map(([name, content]) => `"${name}" ${TYPES[content]}`)
    .join(', ');

/** `stamp` identifies the run.json that was read. */
const RUNS = `
  CREATE TABLE runs (${columnsSql(RUN_COLUMNS)}, stamp TEXT NOT NULL, PRIMARY KEY (run_id)) WITHOUT ROWID;
  CREATE INDEX runs_by_source ON runs (source_sha256) WHERE source_sha256 IS NOT NULL;`;

/** The result.json that the measures of a run were read from. */
const RESULTS = `
  CREATE TABLE results (run_id TEXT PRIMARY KEY, stamp TEXT NOT NULL, damage TEXT) WITHOUT ROWID;`;

/** Rows of one measure are adjacent: its history is one range of the file. */
const MEASURES = `
  CREATE TABLE measures (
    ${columnsSql(MEASURE_COLUMNS)}, position INTEGER NOT NULL, PRIMARY KEY (measure, run_id, position)
  ) WITHOUT ROWID;
  CREATE INDEX measures_by_run ON measures (run_id);`;

/** What long-lived processes keep of a file of each run, as JSON; `stamp` identifies the file that was read. */
const KEPT = `
  CREATE TABLE kept (
    kind TEXT NOT NULL,
    run_id TEXT NOT NULL,
    stamp TEXT NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (kind, run_id)
  ) WITHOUT ROWID;`;

const TABLES = `${RUNS}${RESULTS}${MEASURES}${KEPT}
  PRAGMA user_version = ${INDEX_VERSION};`;

const INDEX_FILE = '.index.sqlite';
const BUSY_TIMEOUT_MS = 2_000;

/**
 * Opens the index of a runs directory for one operation, and closes it afterwards. A missing, outdated or damaged file
 * is created anew, so that `work` may be called twice; if the file cannot be used, the database is empty and in memory.
 */
export async function useIndexDatabase<T>(
  directory: string,
  work: (database: DatabaseSync) => T | Promise<T>,
): Promise<T> {
  const path = join(directory, INDEX_FILE);
  if (existsSync(directory)) {
    // The second attempt uses a new file if the first turned out to be damaged.
    for (let attempt = 0; attempt < 2; attempt++) {
      try {
        return await useAt(path, work);
      } catch (error) {
        if (!isDatabaseError(error)) throw error;
        if (!isDamage(error)) break;
        await rm(path, { force: true });
      }
    }
  }
  return useAt(':memory:', work);
}

async function useAt<T>(location: string, work: (database: DatabaseSync) => T | Promise<T>): Promise<T> {
  const database = openDatabase(location);
  try {
    return await work(database);
  } finally {
    database.close();
  }
}

/** All changes, or none. */
export function inTransaction(database: DatabaseSync, work: () => void): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    work();
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function openDatabase(location: string): DatabaseSync {
  const database = new (loadSqlite().DatabaseSync)(location, { timeout: BUSY_TIMEOUT_MS });
  try {
    if (versionOf(database) === INDEX_VERSION) return database;
    database.exec('BEGIN IMMEDIATE');
    // Another process may have created the tables in the meantime.
    if (versionOf(database) !== INDEX_VERSION) {
      const tables = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all();
      for (const { name } of tables) database.exec(`DROP TABLE "${String(name)}"`);
      database.exec(TABLES);
    }
    database.exec('COMMIT');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
}

function isDatabaseError(error: unknown): error is { errcode: number } {
  return codeOf(error) === 'ERR_SQLITE_ERROR';
}

/** SQLITE_CORRUPT and SQLITE_NOTADB, and SQLITE_ERROR for unexpected tables. */
const isDamage = ({ errcode }: { errcode: number }): boolean => [1, 11, 26].includes(errcode & 0xff);
