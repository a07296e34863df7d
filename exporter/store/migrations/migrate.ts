import { DamagedRunError, SchemaVersionError } from '../store-errors.ts';
import { resultFrom1To2 } from './result-1-to-2.ts';
import { runFrom1To2 } from './run-1-to-2.ts';

/** The version of each file of a run directory that this program writes; it reads this one and all before it. */
export const SCHEMA_VERSIONS = { run: 2, result: 2, record: 2, servers: 1 } as const;

export type VersionedFile = keyof typeof SCHEMA_VERSIONS;

/** Any JSON object: what a file of an older version has is not known to the compiler. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Makes a file of one version one of the next. Pure: the file on the disk stays as it is. */
export type Migration = (older: JsonObject) => JsonObject;

/** The n-th step (from 0) leads from version n + 1 to n + 2. Records need none: a column that is missing is null. */
const MIGRATIONS: Readonly<Record<Exclude<VersionedFile, 'record'>, readonly Migration[]>> = {
  run: [runFrom1To2],
  result: [resultFrom1To2],
  servers: [],
};

/**
 * The content of a file in its present form. `path` is for messages. Throws a `SchemaVersionError` for a later version
 * and a `DamagedRunError` for what is no version.
 */
export function migrated(kind: keyof typeof MIGRATIONS, path: string, file: JsonObject): JsonObject {
  const version = checkedVersion(kind, path, file['schema_version']);
  return MIGRATIONS[kind].slice(version - 1).reduce<JsonObject>((older, step) => step(older), file);
}

/** The version of a file that this program can read. Throws as `migrated`. */
export function checkedVersion(kind: VersionedFile, path: string, version: unknown): number {
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1) {
    throw new DamagedRunError(path, 'it has no schema version');
  }
  const known = SCHEMA_VERSIONS[kind];
  if (version > known) throw new SchemaVersionError(path, version, known);
  return version;
}
