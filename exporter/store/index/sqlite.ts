import type * as Sqlite from 'node:sqlite';

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
