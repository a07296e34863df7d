import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { codeOf } from '../../errors/store-errors.ts';
import { loadSqlite } from './sqlite.ts';
import { INDEX_VERSION, TABLES } from './tables.ts';

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
