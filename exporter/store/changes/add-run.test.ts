import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { RequestRecord } from '../../../core/run/record.ts';
import { addRun } from './add-run.ts';
import { readChecksums } from '../sealed/checksums.ts';
import { fingerprint } from '../fingerprint.ts';
import { verifyRun } from '../verify-run.ts';
import { addedResult, addedRun, source } from '../fixtures/added-run.ts';
import { collect, exampleRecord } from '../fixtures/example-run.ts';
import { RunIndex } from '../index/run-index.ts';
import { openStore } from '../run-store.ts';
import type { RunStore } from '../run-store.ts';
import { RunExistsError } from '../../errors/expected-error.ts';

let directory: string;
let store: RunStore;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-add-'));
  ({ store } = await openStore(directory));
});

afterEach(() => rm(directory, { recursive: true }));

const sha256 = (digit: string): string => digit.repeat(64);
const leftOver = async (): Promise<string[]> => readdir(join(directory, '.unfinished'));

describe('a run that is added', () => {
  test('is a finished run with its records, additional files and checksums', async () => {
    const servers = { name: 'servers.json', write: (path: string) => writeFile(path, '{}') };
    const { path } = await addRun(store, { ...addedRun('r1'), files: [servers] });
    expect(path).toBe(join(directory, 'r1'));
    const run = await store.readRun('r1');
    expect(run.fingerprint).toBe(fingerprint(run.comparison_key));
    expect((await store.readResult('r1')).fingerprint).toBe(run.fingerprint);
    expect(await collect(store.readRecords(run))).toEqual(Array.from({ length: 5 }, (_, i) => exampleRecord(i)));
    const sums = await readChecksums(path);
    expect([...(sums?.keys() ?? [])]).toEqual(['records/0.parquet', 'result.json', 'run.json', 'servers.json']);
    // sha256sum of the two characters "{}".
    expect(sums?.get('servers.json')).toBe('44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a');
    expect(await leftOver()).toEqual([]);
  });

  test('can have no records', async () => {
    await addRun(store, addedRun('r1', {}, 0));
    expect(await collect(store.readRecords(await store.readRun('r1')))).toEqual([]);
    expect((await readdir(join(directory, 'r1'))).sort()).toEqual(['checksums.sha256', 'result.json', 'run.json']);
  });

  test('can have a result computed from its records after they are written', async () => {
    const added = addedRun('r1');
    let seen = 0;
    await addRun(store, {
      ...added,
      result: async (readBack) => {
        await readBack(() => (seen += 1));
        return addedResult(added.run);
      },
    });
    expect(seen).toBe(5);
  });

  test('is identified by the content it was imported from', async () => {
    await addRun(store, addedRun('r1', { source: source(sha256('1')) }));
    await addRun(store, addedRun('r2', { source: source(sha256('2')) }));
    await addRun(store, addedRun('r3', { source: null }));
    const { start } = addedRun('r1').run;
    const known = (run_id: string) => ({ run_id, start, imported_at: null });
    expect(await RunIndex.use(store, (index) => index.knownSources())).toEqual(
      new Map([
        [sha256('1'), known('r1')],
        [sha256('2'), known('r2')],
      ]),
    );
    await rm(join(directory, 'r1'), { recursive: true });
    expect(await RunIndex.use(store, (index) => index.knownSources())).toEqual(new Map([[sha256('2'), known('r2')]]));
  });
});

test('a run that replaces another takes its place whole, or leaves it as it was', async () => {
  await addRun(store, addedRun('r1', { start: null }, 2));
  const later = addedRun('r1', { start: '2026-01-01T00:00:00.000Z' }, 3);
  await expect(addRun(store, { ...later, records: failing(), replaces: true })).rejects.toThrow();
  expect((await store.readRun('r1')).start).toBeNull();
  await addRun(store, { ...later, replaces: true });
  expect((await store.readRun('r1')).start).toBe('2026-01-01T00:00:00.000Z');
  expect(await collect(store.readRecords(await store.readRun('r1')))).toHaveLength(3);
  expect(await verifyRun(store, 'r1')).toMatchObject({ state: 'ok' });
  expect(await readdir(join(directory, '.unfinished'))).toEqual([]);
});

describe('nothing is left of', () => {
  test.each([
    ['records that end with an error', { records: failing() }],
    ['a result that cannot be computed', { result: () => Promise.reject(new Error('no')) }],
    [
      'an additional file that fails',
      { files: [{ name: 'servers.json', write: () => Promise.reject(new Error('no')) }] },
    ],
    ['an additional file outside the folder', { files: [{ name: '../x', write: () => Promise.resolve() }] }],
    [
      "an additional file with the name of a run's own file",
      { files: [{ name: 'run.json', write: () => Promise.resolve() }] },
    ],
  ])('%s', async (_, change) => {
    await expect(addRun(store, { ...addedRun('r1'), ...change })).rejects.toThrow();
    expect(await store.list()).toEqual([]);
    expect(await leftOver()).toEqual([]);
  });

  test('a run with an existing name is rejected, and the first is kept', async () => {
    await addRun(store, addedRun('r1', { scenario: 'first' }));
    await expect(addRun(store, addedRun('r1', { scenario: 'second' }))).rejects.toThrow(RunExistsError);
    expect((await store.readRun('r1')).scenario).toBe('first');
    expect(await leftOver()).toEqual([]);
  });

  test('of two runs added at once, the faster one is complete', async () => {
    const attempts = await Promise.allSettled(
      ['a', 'b'].map((scenario) => addRun(store, addedRun('r1', { scenario }))),
    );
    expect(attempts.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await collect(store.readRecords(await store.readRun('r1')))).toHaveLength(5);
    expect(await leftOver()).toEqual([]);
  });
});

async function* failing(): AsyncGenerator<RequestRecord> {
  yield await Promise.resolve(exampleRecord(0));
  throw new Error('no');
}
