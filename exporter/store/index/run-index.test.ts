import { cp, mkdtemp, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { RunFile } from '../../../core/run/run.ts';
import { addRun } from '../changes/add-run.ts';
import { editRun } from '../changes/edit-run.ts';
import { addedResult, addedRun, source, throughput } from '../fixtures/added-run.ts';
import { openStore } from '../run-store.ts';
import type { RunStore } from '../run-store.ts';
import { parseCondition } from './select-runs.ts';
import { RunIndex } from './run-index.ts';

let directory: string;
let store: RunStore;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-index-'));
  ({ store } = await openStore(directory));
});

afterEach(() => rm(directory, { recursive: true }));

const indexFile = (): string => join(directory, '.index.sqlite');

async function add(runId: string, change: Partial<RunFile> = {}, value: number | null = 7): Promise<void> {
  const added = addedRun(runId, { source: null, ...change }, 0);
  await addRun(store, { ...added, result: addedResult(added.run, [throughput(value)]) });
}

const names = (...conditions: string[]): Promise<string[]> =>
  RunIndex.use(store, (index) => index.runs(conditions.map(parseCondition)).map(({ run_id }) => run_id));

const history = async (): Promise<(readonly [string, number | null])[]> => {
  const rows = await RunIndex.use(store, (index) => index.history('request_throughput'));
  return rows.map(({ run_id, value }) => [run_id, value] as const);
};

describe('runs', () => {
  test('are listed from the directories, newest first, those without a start by when they were imported', async () => {
    await add('a', { start: '2026-01-02T00:00:00.000Z' });
    await add('b', { start: '2026-01-03T00:00:00.000Z' });
    await add('c', { start: '2026-01-01T00:00:00.000Z' });
    await add('d', { start: null });
    const imported = (position: number) => ({
      ...source('cd'.repeat(32)),
      imported_at: '2026-01-02T12:00:00.000Z',
      position,
    });
    for (const [runId, position] of [
      ['f', 9],
      ['e', 10],
    ] as const)
      await add(runId, { start: null, source: imported(position) });
    expect(await names()).toEqual(['b', 'e', 'f', 'a', 'c', 'd']);
    expect(await names()).toEqual((await store.list()).map(({ run_id }) => run_id));
    expect(await RunIndex.use(store, (index) => index.runs([], 2).map(({ run_id }) => run_id))).toEqual(['b', 'e']);
    expect(await RunIndex.use(store, (index) => index.count())).toBe(6);
    expect((await history()).map(([runId]) => runId)).toEqual(['d', 'c', 'a', 'f', 'e', 'b']);
  });

  test('changes of other processes are detected', async () => {
    await add('a');
    await add('b');
    expect(await names()).toEqual(['b', 'a']);
    await add('c');
    await editRun(store, 'a', (run) => ({ ...run, tags: ['kept'] }));
    await rm(join(directory, 'b'), { recursive: true });
    expect(await names()).toEqual(['c', 'a']);
    expect(await names('tag=kept')).toEqual(['a']);
    // The same size and modification time, but another file.
    const path = join(directory, 'a', 'run.json');
    const { atime, mtime } = await stat(path);
    await writeFile(`${path}.new`, (await readFile(path, 'utf8')).replace('"kept"', '"lost"'));
    await rename(`${path}.new`, path);
    await utimes(path, atime, mtime);
    expect(await names('tag=lost')).toEqual(['a']);
  });

  test('a damaged run is listed with the reason, and does not affect the rest', async () => {
    await add('a');
    await add('b');
    await writeFile(join(directory, 'a', 'run.json'), '{');
    const [b, a] = await RunIndex.use(store, (index) => index.runs());
    expect(b).toMatchObject({ run_id: 'b', damage: null });
    expect(a).toMatchObject({ run_id: 'a', scenario: null, damage: expect.stringContaining('it is not JSON') });
    expect(await names('scenario=*')).toEqual(['b']);
  });

  test('a copy under another name is damaged: it would be counted twice', async () => {
    await add('a');
    await cp(join(directory, 'a'), join(directory, 'copy'), { recursive: true });
    const runs = await RunIndex.use(store, (index) => index.runs());
    expect(runs.map(({ run_id, damage }) => [run_id, damage === null])).toEqual([
      ['a', true],
      ['copy', false],
    ]);
  });
});

describe('conditions', () => {
  beforeEach(async () => {
    const target = { origin: null, origins: null, system: 'vllm', system_version: null };
    await add('a', { scenario: 'nightly [x]', tags: ['red', 'green'], target });
    await add('b', { scenario: 'nightly x', tags: [], tool: { name: 'aiperf', version: null } });
  });

  test.each([
    [['scenario=nightly*'], ['b', 'a']],
    [['scenario=nightly [x]'], ['a']],
    [['scenario=Nightly*'], []],
    [['tag=red'], ['a']],
    [['tag=r*', 'tag=green'], ['a']],
    [['tag=re'], []],
    [['tag!=red'], ['b']],
    [['tool=aiperf', 'status=completed'], ['b']],
    // An unknown value is not equal to any value.
    [['system=*'], ['a']],
    [['system!=vllm'], ['b']],
    [['run=a'], ['a']],
    [["scenario=' OR 1=1 --"], []],
  ])('%j', async (conditions, expected) => {
    expect(await names(...conditions)).toEqual(expected);
  });

  test.each(['scenario', 'color=red', '=x', 'toString=x', 'tag>red'])('%j is none', (text) => {
    expect(() => parseCondition(text)).toThrow('FIELD=VALUE');
  });
});

describe('the history of a measure', () => {
  test('is oldest first, null where a run does not have a value', async () => {
    await add('a', { start: '2026-01-02T00:00:00.000Z' }, 20);
    await add('b', { start: '2026-01-01T00:00:00.000Z' }, null);
    expect(await history()).toEqual([
      ['b', null],
      ['a', 20],
    ]);
  });

  test('follows a result that is replaced, and a run that is removed and comes again', async () => {
    await add('a', {}, 1);
    expect(await history()).toEqual([['a', 1]]);
    const path = join(directory, 'a', 'result.json');
    await writeFile(path, (await readFile(path, 'utf8')).replace('"value":1', '"value":22'));
    expect(await history()).toEqual([['a', 22]]);
    await rm(join(directory, 'a'), { recursive: true });
    expect(await history()).toEqual([]);
    await add('a', {}, 3);
    expect(await history()).toEqual([['a', 3]]);
    await writeFile(path, '');
    expect(await history()).toEqual([]);
  });
});

describe('works without an index file', () => {
  test.each([
    ['garbage', Buffer.alloc(8192, 'x')],
    ['nothing', Buffer.alloc(0)],
    ['the head of a database', Buffer.from('SQLite format 3\0')],
  ])('%s in its file is replaced', async (_, content) => {
    await add('a');
    await writeFile(indexFile(), content);
    expect(await names()).toEqual(['a']);
    expect(await history()).toEqual([['a', 7]]);
  });

  test('a truncated index is rebuilt', async () => {
    for (let i = 0; i < 50; i++) await add(`run-${i}`);
    await history();
    const whole = await readFile(indexFile());
    await writeFile(indexFile(), whole.subarray(0, Math.floor(whole.length / 2)));
    expect(await names()).toHaveLength(50);
    expect(await history()).toHaveLength(50);
  });

  test('an index with other tables is rebuilt', async () => {
    await add('a');
    const { DatabaseSync } = await import('node:sqlite');
    const other = new DatabaseSync(indexFile());
    other.exec('CREATE TABLE runs (x); PRAGMA user_version = 99');
    other.close();
    expect(await names()).toEqual(['a']);
  });

  test('the result is the same if the index cannot be written', async () => {
    await add('a');
    const { mkdir } = await import('node:fs/promises');
    await mkdir(indexFile());
    expect(await names()).toEqual(['a']);
    expect(await history()).toEqual([['a', 7]]);
  });

  test('the result is the same while another process locks it', async () => {
    await add('a');
    await names();
    await add('b');
    const { DatabaseSync } = await import('node:sqlite');
    const other = new DatabaseSync(indexFile());
    other.exec('BEGIN EXCLUSIVE');
    expect(await names()).toEqual(['b', 'a']);
    other.exec('ROLLBACK');
    other.close();
  });

  test('a directory that does not exist has no runs and gets no index', async () => {
    const { store: missing } = await openStore(join(directory, 'missing'));
    expect(await RunIndex.use(missing, (index) => index.runs())).toEqual([]);
    await expect(stat(join(directory, 'missing'))).rejects.toThrow('ENOENT');
  });
});
