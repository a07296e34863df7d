import { readFileSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { collect } from '../fixtures/example-run.ts';
import { fingerprint } from '../fingerprint.ts';
import { RECORD_COLUMNS } from '../records/record-columns.ts';
import { readParquetRecords } from '../records/read-records.ts';
import { ParquetRecordsWriter } from '../records/records-parquet.ts';
import { openStore } from '../run-store.ts';
import type { RunStore } from '../run-store.ts';
import { DamagedRunError, SchemaVersionError } from '../../errors/expected-error.ts';
import { migrated, SCHEMA_VERSIONS } from './migrate.ts';

const FIXTURES = fileURLToPath(new URL('fixtures', import.meta.url));
const VERSION_1 = '20261121T222600Z-version1ab';
const VERSION_2 = '20261123T022600Z-version2ab';
const VERSION_3 = '20261123T210000Z-version3ab';

/** The columns of a record of version 1. */
const FIRST_COLUMNS = [
  'index',
  'phase',
  'due_ns',
  'sent_ns',
  'first_content_ns',
  'last_content_ns',
  'end_ns',
  'connection_reused',
  'connect_ns',
  'outcome',
  'reason',
  'http_status',
  'input_tokens',
  'input_tokens_source',
  'output_tokens',
  'output_tokens_source',
  'reasoning_tokens',
  'cached_tokens',
  'requested_output_tokens',
  'chunk_offsets_ns',
];

function complaints(schema: 'run' | 'result' | 'record', value: unknown): unknown {
  const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true });
  addFormats.default(ajv);
  const path = new URL(`../../../schemas/${schema}.schema.json`, import.meta.url);
  const validate = ajv.compile(JSON.parse(readFileSync(path, 'utf8')) as object);
  return validate(value) ? [] : validate.errors;
}

let directory: string;
let store: RunStore;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-migrations-'));
  for (const version of ['version-1', 'version-2', 'version-3'])
    await cp(join(FIXTURES, version), directory, { recursive: true });
  ({ store } = await openStore(directory));
});

afterEach(() => rm(directory, { recursive: true }));

describe('a run of version 1', () => {
  test('run.json is read in its current form, and is not changed on disk', async () => {
    const before = await readFile(join(directory, VERSION_1, 'run.json'), 'utf8');
    const run = await store.readRun(VERSION_1);
    expect(complaints('run', run)).toEqual([]);
    expect(run).toMatchObject({
      schema_version: SCHEMA_VERSIONS.run,
      scenario: 'stored-example',
      source: null,
      tags: [],
      fingerprint: fingerprint(run.comparison_key),
    });
    expect(await readFile(join(directory, VERSION_1, 'run.json'), 'utf8')).toBe(before);
    expect(JSON.parse(before)).toMatchObject({ schema_version: 1 });
  });

  test('result.json is read in its current form, and is not changed on disk', async () => {
    const path = join(directory, VERSION_1, 'result.json');
    const before = await readFile(path, 'utf8');
    expect(JSON.parse(before)).toMatchObject({ schema_version: 1 });
    const result = await store.readResult(VERSION_1);
    expect(complaints('result', result)).toEqual([]);
    expect(result).toMatchObject({ schema_version: SCHEMA_VERSIONS.result, requests: { ok: 12 } });
    expect(result.fingerprint).toBe((await store.readRun(VERSION_1)).fingerprint);
    expect(await readFile(path, 'utf8')).toBe(before);
  });

  test('missing columns of its records are null', async () => {
    const records = await collect(store.readRecords(await store.readRun(VERSION_1)));
    expect(records).toHaveLength(14);
    const added = RECORD_COLUMNS.map(({ name }) => name).filter((name) => !FIRST_COLUMNS.includes(name));
    for (const record of records) {
      expect(complaints('record', record)).toEqual([]);
      for (const name of added) expect([name, record[name]]).toEqual([name, null]);
    }
    expect(records[0]).toMatchObject({ index: 0, phase: 'warmup', outcome: 'ok', output_tokens: 8 });
  });

  test('an unfinished one is recovered: its lines lack the newer fields', async () => {
    const run = JSON.parse(await readFile(join(directory, VERSION_1, 'run.json'), 'utf8')) as object;
    const records = await collect(readParquetRecords(join(directory, VERSION_1, 'records', '0.parquet')));
    const lines = records.map((record) => JSON.stringify(record, FIRST_COLUMNS));
    await cp(join(directory, VERSION_1), join(directory, '.unfinished', 'old'), { recursive: true });
    const gone = { pid: 1, start_time: '0.0', metrics_url: null, server_metrics_urls: [] };
    const unfinished = { ...run, run_id: 'old', status: 'running', end: null, process: gone };
    await writeFile(join(directory, '.unfinished', 'old', 'run.json'), JSON.stringify(unfinished));
    await writeFile(join(directory, '.unfinished', 'old', 'records', '0.jsonl'), lines.join('\n'));
    // Not touched for an hour: its process was elsewhere and has ended.
    const { utimes } = await import('node:fs/promises');
    const past = new Date(Date.now() - 3_600_000);
    await utimes(join(directory, '.unfinished', 'old', 'run.json'), past, past);
    expect((await openStore(directory)).messages).toEqual([
      'run old was finished as aborted: its process had ended; 14 requests are kept',
    ]);
    const recovered = await store.readRun('old');
    expect(complaints('run', recovered)).toEqual([]);
    expect(await collect(store.readRecords(recovered))).toEqual(records);
  });
});

describe('a run of version 2', () => {
  test('keeps its fingerprint; its dataset and command line are unknown', async () => {
    const before = await readFile(join(directory, VERSION_2, 'run.json'), 'utf8');
    const stored = JSON.parse(before) as { schema_version: number; fingerprint: string };
    expect(stored.schema_version).toBe(2);
    const run = await store.readRun(VERSION_2);
    expect(complaints('run', run)).toEqual([]);
    expect(run).toMatchObject({ schema_version: SCHEMA_VERSIONS.run, dataset: null, command_line: null });
    expect(run.fingerprint).toBe(stored.fingerprint);
    expect(fingerprint(run.comparison_key)).toBe(stored.fingerprint);
    expect(complaints('result', await store.readResult(VERSION_2))).toEqual([]);
    expect(await readFile(join(directory, VERSION_2, 'run.json'), 'utf8')).toBe(before);
  });
});

describe('a run of version 3', () => {
  test('keeps its fingerprint; what was measured is unknown', async () => {
    const before = await readFile(join(directory, VERSION_3, 'run.json'), 'utf8');
    const stored = JSON.parse(before) as { schema_version: number; fingerprint: string };
    expect(stored.schema_version).toBe(3);
    const run = await store.readRun(VERSION_3);
    expect(complaints('run', run)).toEqual([]);
    expect(run).toMatchObject({ schema_version: SCHEMA_VERSIONS.run, provenance: null });
    expect(run.fingerprint).toBe(stored.fingerprint);
    expect(fingerprint(run.comparison_key)).toBe(stored.fingerprint);
    const result = await store.readResult(VERSION_3);
    expect(complaints('result', result)).toEqual([]);
    // It collected nothing, which was an empty object up to version 4.
    expect(result.servers).toBeNull();
  });
});

test('a run of version 4: nothing was stated about the price of its GPUs', () => {
  const of = (provenance: object | null) => migrated('run', 'run.json', { schema_version: 4, provenance });
  expect(of({ metadata: {} })).toEqual({
    schema_version: SCHEMA_VERSIONS.run,
    provenance: { metadata: {}, gpu_price: null, gpu_count: null },
  });
  expect(of(null)['provenance']).toBeNull();
});

test('a run of version 6: the number of its GPUs was part of their price', () => {
  const of = (gpu_price: object | null) =>
    migrated('run', 'run.json', { schema_version: 6, provenance: { gpu_price } })['provenance'];
  const price = { per_hour: 2.5, currency: 'EUR' };
  expect(of({ ...price, gpus: 8 })).toEqual({ gpu_price: price, gpu_count: 8 });
  expect(of({ ...price, gpus: null })).toEqual({ gpu_price: price, gpu_count: null });
  expect(of(null)).toEqual({ gpu_price: null, gpu_count: null });
});

test('a result of version 3: the energy of its GPUs has no power and no parts', () => {
  const gpu_energy = { joules: 12, gpus: 2, source: 'power', joules_per_output_token: 0.5 };
  const of = (servers: object) => migrated('result', 'result.json', { schema_version: 3, servers });
  expect(of({ exact: true, gpu_energy })).toEqual({
    schema_version: SCHEMA_VERSIONS.result,
    servers: {
      exact: true,
      gpu_energy: {
        ...{ joules: 12, watts: null, idle_watts: null, gpus: 2, source: 'power', resolution_seconds: null },
        by_gpu: [],
      },
    },
  });
  expect(of({ gpu_energy: null })['servers']).toEqual({ gpu_energy: null });
  expect(of({})['servers']).toBeNull();
});

describe('a later version', () => {
  test.each(['run', 'result', 'servers'] as const)('of %s.json is rejected in one line', (kind) => {
    const later = SCHEMA_VERSIONS[kind] + 1;
    const attempt = () => migrated(kind, `${kind}.json`, { schema_version: later });
    expect(attempt).toThrow(SchemaVersionError);
    expect(attempt).toThrow(
      `${kind}.json has schema version ${later}; this version reads ${SCHEMA_VERSIONS[kind]}: use a newer llmbench`,
    );
  });

  test('of the records is rejected', async () => {
    const path = join(directory, 'later.parquet');
    const parquet = new ParquetRecordsWriter(path, { schemaVersion: SCHEMA_VERSIONS.record + 1 });
    await parquet.close();
    await expect(collect(readParquetRecords(path))).rejects.toThrow(SchemaVersionError);
  });
});

test.each([0, 1.5, -1, '1', null, undefined, NaN])('%p is not a schema version', (schema_version) => {
  expect(() => migrated('run', 'run.json', { schema_version })).toThrow(DamagedRunError);
});
