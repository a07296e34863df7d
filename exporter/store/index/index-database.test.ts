import { DatabaseSync } from 'node:sqlite';
import { afterEach, expect, jest, test } from '@jest/globals';
import { loadSqlite } from './index-database.ts';

afterEach(() => void jest.restoreAllMocks());

/** Loads the module while this warning is emitted, as Node 22 does; returns the observed warnings. */
function loadedWith(warning: string) {
  const reported = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  jest.spyOn(process, 'getBuiltinModule').mockImplementation(() => {
    process.emitWarning(warning, 'ExperimentalWarning');
    return { DatabaseSync };
  });
  expect(loadSqlite().DatabaseSync).toBe(DatabaseSync);
  return reported;
}

test('the warning of Node 22 about SQLite is not printed', () => {
  expect(loadedWith('SQLite is an experimental feature and might change at any time')).not.toHaveBeenCalled();
});

test('other warnings are printed, also later ones', () => {
  const reported = loadedWith('Another thing is an experimental feature');
  expect(reported.mock.calls).toEqual([['Another thing is an experimental feature', 'ExperimentalWarning']]);
  process.emitWarning('SQLite is an experimental feature');
  expect(reported).toHaveBeenCalledTimes(2);
});

test('returns the module', () => {
  expect(new (loadSqlite().DatabaseSync)(':memory:').prepare('SELECT 7 AS n').get()).toEqual({ n: 7 });
});
