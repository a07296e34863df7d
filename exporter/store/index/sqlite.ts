import type * as Sqlite from 'node:sqlite';

const EXPERIMENTAL = /^SQLite is an experimental feature/;

/** `node:sqlite`, without the line that Node 22 prints when it is loaded; every other warning is printed as ever. */
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
