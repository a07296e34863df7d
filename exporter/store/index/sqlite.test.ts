import { DatabaseSync } from 'node:sqlite';
import { afterEach, expect, jest, test } from '@jest/globals';
import { loadSqlite } from './sqlite.ts';

afterEach(() => void jest.restoreAllMocks());

/** Loads it with this warning on the way, as Node 22 does; gives who is told of warnings. */
function loadedWith(warning: string) {
  const told = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  jest.spyOn(process, 'getBuiltinModule').mockImplementation(() => {
    process.emitWarning(warning, 'ExperimentalWarning');
    return { DatabaseSync };
  });
  expect(loadSqlite().DatabaseSync).toBe(DatabaseSync);
  return told;
}

test('the warning of Node 22 about SQLite is not printed', () => {
  expect(loadedWith('SQLite is an experimental feature and might change at any time')).not.toHaveBeenCalled();
});

test('others are, as they came, and later ones too', () => {
  const told = loadedWith('Another thing is an experimental feature');
  expect(told.mock.calls).toEqual([['Another thing is an experimental feature', 'ExperimentalWarning']]);
  process.emitWarning('SQLite is an experimental feature');
  expect(told).toHaveBeenCalledTimes(2);
});

test('it is the module', () => {
  expect(new (loadSqlite().DatabaseSync)(':memory:').prepare('SELECT 7 AS n').get()).toEqual({ n: 7 });
});
