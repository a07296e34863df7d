import { DamagedRunError, SchemaVersionError } from '../../errors/expected-error.ts';
import type { ComparisonKey } from '../../../core/run/run.ts';
import { fingerprint } from '../fingerprint.ts';

/** The version of each file that this program writes; it reads this version and all earlier ones. */
export const SCHEMA_VERSIONS = { run: 7, result: 7, record: 2, servers: 1 } as const;

export type VersionedFile = keyof typeof SCHEMA_VERSIONS;

/** Any JSON object: the content of older versions has no type. */
export type StoredObject = Readonly<Record<string, unknown>>;

/** Converts a file of one version to the next. Pure: the file on disk is not changed. */
type Migration = (older: StoredObject) => StoredObject;

/** The n-th step (from 0) converts version n + 1 to n + 2. Records need none: a missing column is null. */
const MIGRATIONS: Readonly<Record<Exclude<VersionedFile, 'record'>, readonly Migration[]>> = {
  run: [runFrom1To2, runFrom2To3, runFrom3To4, runFrom4To5, runFrom5To6, runFrom6To7],
  result: [resultFrom1To2, resultFrom2To3, resultFrom3To4, resultFrom4To5, resultFrom5To6, resultFrom6To7],
  servers: [],
};

/**
 * The content of a file in its current form. `path` is for messages. Throws a `SchemaVersionError` for a later version
 * and a `DamagedRunError` for an invalid version.
 */
export function migrated(kind: keyof typeof MIGRATIONS, path: string, file: StoredObject): StoredObject {
  const version = checkedVersion(kind, path, file['schema_version']);
  return MIGRATIONS[kind].slice(version - 1).reduce<StoredObject>((older, step) => step(older), file);
}

/** The version of a file, if supported. Throws like `migrated`. */
export function checkedVersion(kind: VersionedFile, path: string, version: unknown): number {
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1) {
    throw new DamagedRunError(path, 'it has no schema version');
  }
  const known = SCHEMA_VERSIONS[kind];
  if (version > known) throw new SchemaVersionError(path, version, known);
  return version;
}

/** Version 2 of run.json added imported runs, tags, all servers, the HTTP client and the ramp of the prefill limit. */
function runFrom1To2(run: StoredObject): StoredObject {
  const comparison_key = changed(run.comparison_key, ({ load, warmup, ...key }) => ({
    ...key,
    load: withRamp(load),
    warmup: changed(warmup, (before) => ({ ...before, load: withRamp(before.load) })),
  }));
  const target = changed(run.target, (reported) => ({ ...reported, origins: null }));
  const present = { comparison_key, fingerprint: fingerprintOf(comparison_key) ?? run.fingerprint, target };
  return { ...run, ...present, schema_version: 2, source: null, client: null, tags: [] };
}

/** Version 3 of run.json added the options of the dataset and the command line; the comparison key did not change. */
function runFrom2To3(run: StoredObject): StoredObject {
  return { ...run, schema_version: 3, dataset: null, command_line: null };
}

/** Version 4 of run.json added what was measured, by whom and from where. */
function runFrom3To4(run: StoredObject): StoredObject {
  return { ...run, schema_version: 4, provenance: null };
}

/** Version 5 of run.json added the price of the GPUs. */
function runFrom4To5(run: StoredObject): StoredObject {
  const provenance = changed(run.provenance, (known) => ({ ...known, gpu_price: null }));
  return { ...run, schema_version: 5, provenance };
}

/** Version 6 of run.json added when a run was imported, and its place in that import. */
function runFrom5To6(run: StoredObject): StoredObject {
  const source = changed(run.source, (known) => ({ ...known, imported_at: null, position: null }));
  return { ...run, schema_version: 6, source };
}

/** Version 7 of run.json has the number of the GPUs beside their price, because either may be stated alone. */
function runFrom6To7(run: StoredObject): StoredObject {
  const provenance = changed(run.provenance, ({ gpu_price, ...known }) => {
    const { gpus = null, ...price } = (gpu_price ?? {}) as StoredObject;
    return { ...known, gpu_price: gpu_price === null ? null : price, gpu_count: gpus };
  });
  return { ...run, schema_version: 7, provenance };
}

/** A new member of the key changes the fingerprint: without migration an old run would never match a new one. */
function fingerprintOf(key: unknown): string | null {
  return typeof key === 'object' && key !== null ? fingerprint(key as ComparisonKey) : null;
}

const withRamp = (load: unknown): unknown =>
  changed(load, (reported) => ({ ...reported, prefill_concurrency_ramp_seconds: null }));

/** A non-object stays unchanged: it is null, or its reader reports the damage. */
function changed(value: unknown, change: (object: StoredObject) => StoredObject): unknown {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? change(value as StoredObject) : value;
}

/**
 * Version 2 of result.json has null for an unknown count of requests. Version 1 had 0, which cannot be distinguished
 * from a true 0: the notes in run.json list the counts that were not reported.
 */
function resultFrom1To2(result: StoredObject): StoredObject {
  return { ...result, schema_version: 2 };
}

/** Version 3 of result.json added the stages of a load. */
function resultFrom2To3(result: StoredObject): StoredObject {
  return { ...result, schema_version: 3, stages: [] };
}

/**
 * Version 4 of result.json has the power of the GPUs, and the energy of each of them. Its energy per token is a measure,
 * over the client's tokens: that of version 3 was over the servers' and is left out.
 */
function resultFrom3To4(result: StoredObject): StoredObject {
  const servers = changed(result.servers, (collected) => ({
    ...collected,
    ...('gpu_energy' in collected ? { gpu_energy: changed(collected['gpu_energy'], energyFrom3To4) } : {}),
  }));
  return { ...result, schema_version: 4, servers };
}

function energyFrom3To4({ joules, gpus, source }: StoredObject): StoredObject {
  return { joules, watts: null, idle_watts: null, gpus, source, resolution_seconds: null, by_gpu: [] };
}

/** Version 5 of result.json has null where no server metrics were collected. Version 4 had an empty object. */
function resultFrom4To5(result: StoredObject): StoredObject {
  const { servers } = result;
  const isEmpty = typeof servers === 'object' && servers !== null && Object.keys(servers).length === 0;
  return { ...result, schema_version: 5, servers: isEmpty ? null : servers };
}

/** Version 6 of result.json leaves out what is null in a distribution. */
function resultFrom5To6(result: StoredObject): StoredObject {
  return { ...result, schema_version: 6 };
}

/** Version 7 has once what is the same over the ok requests and over all, and little of a measure without a value. */
function resultFrom6To7(result: StoredObject): StoredObject {
  return { ...result, schema_version: 7 };
}
