import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { RunFile } from '../../core/run/run.ts';
import { collect, EXAMPLE_END, examplePlan, exampleRecord } from './fixtures/example-run.ts';
import { ownIdentity } from '../files/process-identity.ts';
import { openStore, RunStore } from './run-store.ts';
import type { RunWriter } from './run-writer.ts';
import {
  DamagedRunError,
  RunNotStoredError,
  RunsDirectoryError,
  SchemaVersionError,
} from '../errors/expected-error.ts';

/** Owns no files. */
const UNPRIVILEGED_USER_ID = 65_534;

let directory: string;
let store: RunStore;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-store-'));
  ({ store } = await openStore(directory));
});

afterEach(() => rm(directory, { recursive: true }));

const GONE = { pid: 1, start_time: `${ownIdentity().start_time.split('.')[0] ?? ''}.0` };
const unfinished = (runId: string): string => join(directory, '.unfinished', runId);

async function begun(records: number, change: Parameters<typeof examplePlan>[0] = {}): Promise<RunWriter> {
  const writer = await store.begin(examplePlan(change));
  for (let index = 0; index < records; index++) writer.requestEnded(exampleRecord(index));
  return writer;
}

/** Simulates that the process of the run was killed after its last flush. */
async function abandon(runId: string, process: Partial<RunFile['process']> = GONE): Promise<void> {
  const path = join(unfinished(runId), 'run.json');
  const run = JSON.parse(await readFile(path, 'utf8')) as RunFile;
  await writeFile(path, JSON.stringify({ ...run, process: { ...run.process, ...process } }));
}

describe('a run that ends', () => {
  test('is a folder with run.json, result.json and its records, and nothing else', async () => {
    const writer = await begun(10, { run_id: 'r1' });
    const result = await writer.finish(EXAMPLE_END);
    expect(writer.path).toBe(join(directory, 'r1'));
    expect((await readdir(writer.path, { recursive: true })).sort()).toEqual([
      'checksums.sha256',
      'records',
      'records/0.parquet',
      'result.json',
      'run.json',
    ]);
    expect(await readdir(join(directory, '.unfinished'))).toEqual([]);
    expect(await store.readResult('r1')).toEqual(result);
    const run = await store.readRun('r1');
    expect(run).toMatchObject({
      ...examplePlan({ run_id: 'r1' }),
      status: 'completed',
      recovered: false,
      process: null,
    });
    expect(run).toMatchObject({ phases: EXAMPLE_END.phases, end: EXAMPLE_END.end, failure: null });
    expect(await collect(store.readRecords(run))).toEqual(Array.from({ length: 10 }, (_, i) => exampleRecord(i)));
  });

  test('its result counts the measure phase', async () => {
    const result = await (await begun(10)).finish(EXAMPLE_END);
    // Of the records 0 to 9 the first is warm-up, 4 and 9 fail.
    expect(result.requests).toEqual({ ok: 7, error: 2, timeout: 0, cancelled: 0 });
    expect(result.errors).toEqual({ http_5xx: 2 });
    // Record 1 is sent at 0, record 9 ends at 400 + 99 ms.
    expect(result.window).toEqual({
      start: '2026-03-04T05:06:07.000Z',
      end: '2026-03-04T05:06:07.499Z',
      seconds: expect.closeTo(0.499, 12),
    });
  });

  test('without a start there are no instants, but a length', async () => {
    const result = await (await begun(10, { start: null })).finish(EXAMPLE_END);
    expect(result.window).toEqual({ start: null, end: null, seconds: expect.closeTo(0.499, 12) });
  });

  test('completed, it is still found with its metrics until it is published', async () => {
    const plan = examplePlan({ run_id: 'r1' });
    const addresses = {
      metrics_url: 'http://127.0.0.1:1/metrics',
      server_metrics_urls: ['http://127.0.0.1:2/metrics'],
    };
    const writer = await store.begin(plan, addresses);
    expect(await store.running()).toMatchObject([{ run_id: 'r1', status: 'running', process: addresses }]);
    await writer.complete(EXAMPLE_END);
    expect(await store.running()).toMatchObject([{ run_id: 'r1', status: 'completed', process: addresses }]);
    expect((await openStore(directory)).messages).toEqual([]);
    expect(await store.list()).toEqual([]);
    await writer.publish();
    expect(await store.running()).toEqual([]);
    expect((await store.list()).map(({ run_id }) => run_id)).toEqual(['r1']);
  });

  test('phases and addresses are in run.json while it runs', async () => {
    const writer = await begun(1, { run_id: 'r1' });
    writer.phaseStarted('warmup', 0);
    writer.phaseEnded('warmup', 99_000_000);
    writer.phaseStarted('measure', 100_000_000);
    await writer.update({ metrics_url: 'http://127.0.0.1:9/metrics' });
    const [run] = await store.running();
    expect(run?.process).toMatchObject({ ...ownIdentity(), metrics_url: 'http://127.0.0.1:9/metrics' });
    expect(run?.phases).toEqual([
      { phase: 'warmup', start: '2026-03-04T05:06:07.000Z', end: '2026-03-04T05:06:07.099Z' },
      { phase: 'measure', start: '2026-03-04T05:06:07.100Z', end: null },
    ]);
    await writer.finish(EXAMPLE_END);
  });

  test('records that are missing from the file are noticed, and the result is there', async () => {
    const writer = await begun(10, { run_id: 'r1' });
    await rm(join(unfinished('r1'), 'records', '0.jsonl'));
    const finishing = writer.finish(EXAMPLE_END);
    await expect(finishing).rejects.toThrow(RunNotStoredError);
    const error: unknown = await finishing.catch((reason: unknown) => reason);
    expect(error instanceof RunNotStoredError && error.result.requests.ok).toBe(7);
  });
});

test('no text and no secret reaches a file, during the run or after it', async () => {
  const secret = 'kept-by-no-one';
  const target = { ...examplePlan().target, origin: `http://user:${secret}@127.0.0.1:8000/v1?key=${secret}` };
  const writer = await store.begin(examplePlan({ run_id: 'r1', target }), {
    metrics_url: null,
    server_metrics_urls: [`http://${secret}:x@127.0.0.1:8000/metrics?key=${secret}`],
  });
  await writer.update({ metrics_url: `http://127.0.0.1:9/metrics?${secret}` });
  writer.requestEnded({ ...exampleRecord(1), ...{ prompt: secret, text: secret } });
  writer.phaseEnded('measure', 1);
  await writer.update({});
  await writer.complete(EXAMPLE_END);
  const files = await snapshot(directory);
  expect(Object.keys(files).map((path) => path.slice(path.lastIndexOf('/') + 1))).toContain('0.jsonl');
  for (const text of Object.values(files)) expect(text).not.toContain(secret);
  await writer.publish();
  for (const text of Object.values(await snapshot(directory))) expect(text).not.toContain(secret);
  const rows = await collect(store.readRecords({ run_id: 'r1', shard: '0' }));
  expect(rows).toEqual([exampleRecord(1)]);
  expect((await store.readRun('r1')).target.origin).toBe('http://127.0.0.1:8000');
});

describe('begin refuses', () => {
  test('a name that is taken, by a finished or an unfinished run', async () => {
    const writer = await begun(1, { run_id: 'r1' });
    await expect(store.begin(examplePlan({ run_id: 'r1' }))).rejects.toThrow('run r1 exists');
    await writer.finish(EXAMPLE_END);
    await expect(store.begin(examplePlan({ run_id: 'r1' }))).rejects.toThrow(RunsDirectoryError);
  });

  test('a name that is not a run id', async () => {
    await expect(store.begin(examplePlan({ run_id: '../r1' }))).rejects.toThrow('is not a run id');
    await expect(store.begin(examplePlan({ shard: 'a/b' }))).rejects.toThrow('is not a shard');
  });

  test('a directory that cannot be written, in one line', async () => {
    const file = join(directory, 'file');
    await writeFile(file, '');
    const { store: inFile } = await openStore(directory);
    const beneath = new (inFile.constructor as typeof RunStore)(join(file, 'runs'));
    await expect(beneath.begin(examplePlan())).rejects.toThrow(RunsDirectoryError);
    await expect(beneath.begin(examplePlan())).rejects.toThrow(
      `cannot write to the runs directory ${join(file, 'runs')}: a part of the path is not a directory (ENOTDIR); choose another with --runs-dir`,
    );
  });

  test('a directory in which nothing can be written, also for concurrent calls', async () => {
    await Promise.all(Array.from({ length: 50 }, () => store.checkWritable()));
  });

  test('a directory without permission', async () => {
    if (process.getuid?.() === 0) return; // root may write anywhere
    await chmod(directory, 0o500);
    await expect(store.begin(examplePlan())).rejects.toThrow('permission denied (EACCES)');
    await chmod(directory, 0o700);
  });
});

describe('opening a store', () => {
  test('that does not exist makes nothing', async () => {
    const missing = join(directory, 'missing');
    const opened = await openStore(missing);
    expect(opened.messages).toEqual([]);
    expect([await opened.store.list(), await opened.store.running()]).toEqual([[], []]);
    await expect(stat(missing)).rejects.toThrow('ENOENT');
  });

  test('leaves a run alone whose process lives', async () => {
    const writer = await begun(3);
    expect((await openStore(directory)).messages).toEqual([]);
    await writer.finish(EXAMPLE_END);
  });

  test('finishes a run whose process has ended as aborted, reports it once, and is idempotent', async () => {
    const writer = await begun(10, { run_id: 'r1' });
    writer.phaseEnded('warmup', 0);
    await writer.update({});
    await new Promise((resume) => setImmediate(resume));
    // What a killed process leaves: all that was flushed, and half a line.
    const records = Array.from({ length: 10 }, (_, index) => JSON.stringify(exampleRecord(index)));
    await writeFile(join(unfinished('r1'), 'records', '0.jsonl'), `${records.join('\n')}\n{"index":10,"pha`);
    await abandon('r1');

    expect((await openStore(directory)).messages).toEqual([
      'run r1 was finished as aborted: its process had ended; 10 requests are kept',
    ]);
    const run = await store.readRun('r1');
    expect(run).toMatchObject({ status: 'aborted', recovered: true, process: null, end: null });
    expect(run.failure).toContain('the process ended');
    const result = await store.readResult('r1');
    expect(result).toMatchObject({ status: 'aborted', requests: { ok: 7, error: 2 }, client: { verdict: 'unknown' } });
    expect(await collect(store.readRecords(run))).toHaveLength(10);

    const before = await snapshot(directory);
    expect((await openStore(directory)).messages).toEqual([]);
    expect(await snapshot(directory)).toEqual(before);
    await expect(writer.finish(EXAMPLE_END)).rejects.toThrow(RunNotStoredError);
  });

  test('in another container a run is running while it touches its run.json', async () => {
    const writer = await begun(2, { run_id: 'r1' });
    await abandon('r1', { start_time: '000000000000.1' });
    expect((await openStore(directory)).messages).toEqual([]);
    const past = new Date(Date.now() - 120_000);
    await utimes(join(unfinished('r1'), 'run.json'), past, past);
    expect((await openStore(directory)).messages).toHaveLength(1);
    await expect(writer.finish(EXAMPLE_END)).rejects.toThrow(RunNotStoredError);
  });

  test('sets a damaged run aside, reports it once and deletes nothing', async () => {
    const writer = await begun(2, { run_id: 'r1' });
    await writer.update({});
    await writeFile(join(unfinished('r1'), 'run.json'), '{"schema_version": 1');
    const aside = join(directory, '.damaged', 'r1');
    expect((await openStore(directory)).messages).toEqual([
      expect.stringMatching(/^run r1 was set aside to .*\.damaged\/r1: .*run\.json is damaged: it is not JSON$/),
    ]);
    expect((await openStore(directory)).messages).toEqual([]);
    expect((await readdir(aside)).sort()).toEqual(['records', 'run.json']);
    await expect(writer.complete(EXAMPLE_END)).rejects.toThrow(RunNotStoredError);
    await mkdir(unfinished('r1'));
    await writeFile(join(unfinished('r1'), 'run.json'), '');
    expect((await openStore(directory)).messages).toEqual([expect.stringContaining(`set aside to ${aside}.2: `)]);
  });

  test('leaves an unfinished run of a later version where it is', async () => {
    await mkdir(unfinished('r1'), { recursive: true });
    await writeFile(join(unfinished('r1'), 'run.json'), '{"schema_version": 99}');
    for (let time = 0; time < 2; time++) {
      expect((await openStore(directory)).messages).toEqual([
        expect.stringMatching(/^run r1 is unfinished and cannot be recovered: .*use a newer llmbench$/),
      ]);
    }
  });

  test('ignores files that are not runs', async () => {
    await mkdir(join(directory, '.unfinished', 'not a run'), { recursive: true });
    await writeFile(join(directory, '.unfinished', '.DS_Store'), '');
    expect((await openStore(directory)).messages).toEqual([]);
  });
});

describe('list and read', () => {
  test('newest first, damaged ones named', async () => {
    for (const [run_id, start] of [
      ['a', '2026-01-02T00:00:00.000Z'],
      ['b', '2026-01-03T00:00:00.000Z'],
      ['c', '2026-01-01T00:00:00.000Z'],
      ['d', null],
    ] as const) {
      await (await begun(1, { run_id, start })).finish(EXAMPLE_END);
    }
    await writeFile(join(directory, 'c', 'run.json'), '');
    await mkdir(join(directory, 'empty'));
    const listed = await store.list();
    expect(listed.map(({ run_id }) => run_id)).toEqual(['b', 'a', 'empty', 'd', 'c']);
    expect(listed.map(({ damage }) => damage)).toEqual([
      null,
      null,
      expect.stringContaining('it does not exist (ENOENT)'),
      null,
      expect.stringContaining('it is not JSON'),
    ]);
  });

  test('a copy under another name is damaged: it would be reported twice', async () => {
    await (await begun(1, { run_id: 'r1' })).finish(EXAMPLE_END);
    await cp(join(directory, 'r1'), join(directory, 'r2'), { recursive: true });
    const [first, copy] = await store.list();
    expect([first?.damage, copy?.run_id]).toEqual([null, 'r2']);
    expect(copy?.damage).toMatch(
      /r2\/run\.json is damaged: its run_id is "r1": a folder and its run must have the same/,
    );
    await expect(store.readRun('r2')).rejects.toThrow(DamagedRunError);
    await expect(store.readResult('r2')).rejects.toThrow(DamagedRunError);
  });

  test('a directory that does not allow writing is read-only; one that cannot exist is refused', async () => {
    await (await begun(1, { run_id: 'r1' })).finish(EXAMPLE_END);
    expect(await store.whyReadOnly()).toBeNull();
    await rm(join(directory, '.unfinished'), { recursive: true });
    // Permissions do not bind the superuser.
    const isRoot = process.geteuid?.() === 0;
    await chmod(directory, 0o555);
    if (isRoot) process.seteuid?.(UNPRIVILEGED_USER_ID);
    try {
      expect(await store.whyReadOnly()).toBe('permission denied (EACCES)');
      expect(await store.readResult('r1')).toMatchObject({ run_id: 'r1' });
    } finally {
      if (isRoot) process.seteuid?.(0);
      await chmod(directory, 0o755);
    }
    const file = join(directory, 'file');
    await writeFile(file, '');
    await expect(new RunStore(join(file, 'runs')).whyReadOnly()).rejects.toThrow(RunsDirectoryError);
  });

  test('a file of a later version is rejected with a remedy', async () => {
    await (await begun(1, { run_id: 'r1' })).finish(EXAMPLE_END);
    for (const [name, read] of [
      ['result.json', () => store.readResult('r1')],
      ['run.json', () => store.readRun('r1')],
    ] as const) {
      const path = join(directory, 'r1', name);
      const file = JSON.parse(await readFile(path, 'utf8')) as object;
      await writeFile(path, JSON.stringify({ ...file, schema_version: 99 }));
      await expect(read()).rejects.toThrow(SchemaVersionError);
      await expect(read()).rejects.toThrow(/has schema version 99; this version reads \d: use a newer llmbench/);
    }
  });

  test.each([
    ['[]', 'not an object'],
    ['{}', 'no schema version'],
    ['{"schema_version": 1}', 'no run_id'],
    ['{"schema_version": 1, "run_id": "r1", "status": "odd"}', 'its status is unknown'],
    ['{"schema_version": 1, "run_id": "r1", "status": "failed"}', 'it has no "scenario"'],
  ])('run.json with %s is damaged', async (text, reason) => {
    await mkdir(join(directory, 'r1'));
    await writeFile(join(directory, 'r1', 'run.json'), text);
    await expect(store.readRun('r1')).rejects.toThrow(DamagedRunError);
    await expect(store.readRun('r1')).rejects.toThrow(reason);
  });

  test.each([
    [{ measures: [null] }, '"measures" has no measure at position 1'],
    [
      { measures: [{ measure: 'x', kind: 'distribution', percentiles: { p50: 5 } }] },
      '"measures" has no measure at position 1',
    ],
    [{ measures: {} }, '"measures" is not a list'],
    [{ requests: null }, '"requests" is not an object'],
    [{ slos: [7] }, '"slos" is not a list of objectives'],
  ])('result.json with %j is damaged, and the message names it', async (change, reason) => {
    await (await begun(1, { run_id: 'r1' })).finish(EXAMPLE_END);
    const path = join(directory, 'r1', 'result.json');
    await writeFile(path, JSON.stringify({ ...(await store.readResult('r1')), ...change }));
    await expect(store.readResult('r1')).rejects.toThrow(DamagedRunError);
    await expect(store.readResult('r1')).rejects.toThrow(`${path} is damaged: ${reason}`);
  });

  test.each([
    [{ phases: [null] }, '"phases" is not a list of phases'],
    [{ tags: null }, '"tags" is not a list of texts'],
    [{ target: [] }, '"target" is not an object'],
  ])('run.json with %j is damaged, and the message names it', async (change, reason) => {
    await (await begun(1, { run_id: 'r1' })).finish(EXAMPLE_END);
    const path = join(directory, 'r1', 'run.json');
    await writeFile(path, JSON.stringify({ ...(await store.readRun('r1')), ...change }));
    await expect(store.readRun('r1')).rejects.toThrow(`${path} is damaged: ${reason}`);
  });

  test('a name that contains a path is never followed', async () => {
    await expect(store.readRun('../r1')).rejects.toThrow(RangeError);
  });
});

/** Every file with its content. */
async function snapshot(folder: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) files[path] = await readFile(path, 'latin1');
  }
  return files;
}
