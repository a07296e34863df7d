import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { RunStore } from '../run-store.ts';
import { KeptValues } from './read-changed.ts';

let directory: string;
let store: RunStore;
let reads: string[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-kept-'));
  store = new RunStore(directory);
  reads = [];
});
afterEach(() => rm(directory, { recursive: true }));

/** As another process has it: it knows only what the index has. */
const opened = (name = 'length'): KeptValues<{ readonly length: number }> =>
  new KeptValues(store, {
    name,
    read: (runId) => {
      reads.push(runId);
      return runId.startsWith('bad') ? Promise.reject(new Error('cut off')) : Promise.resolve({ length: runId.length });
    },
  });
const stamps = (...runs: readonly (readonly [string, string])[]): ReadonlyMap<string, string> => new Map(runs);

test('a process reads what is new or has changed since another one kept it', async () => {
  await opened().current(stamps(['a', '1'], ['bb', '1'], ['ccc', '1']));
  expect(reads.splice(0).sort()).toEqual(['a', 'bb', 'ccc']);
  const later = opened();
  const found = await later.current(stamps(['a', '1'], ['bb', '2'], ['dddd', '1']));
  expect(reads.splice(0).sort()).toEqual(['bb', 'dddd']);
  expect(Array.from(found, ([runId, { value }]) => [runId, value?.length])).toEqual([
    ...[
      ['a', 1],
      ['bb', 2],
      ['dddd', 4],
    ],
  ]);
  // What was gone is not remembered.
  await opened().current(stamps(['ccc', '1']));
  expect(reads).toEqual(['ccc']);
});

test('the same object until the stamp changes', async () => {
  const values = opened();
  const first = await values.current(stamps(['a', '1'], ['bb', '1']));
  const second = await values.current(stamps(['a', '1'], ['bb', '2']));
  expect(second.get('a')).toBe(first.get('a'));
  expect(second.get('bb')).not.toBe(first.get('bb'));
  expect(await values.current(stamps(['bb', '2'], ['a', '1']))).toBe(second);
  expect(await values.current(stamps(['a', '1']))).not.toBe(second);
});

test('what cannot be read is tried again by the next process, and not before its stamp changes', async () => {
  const values = opened();
  const [first, second] = [await values.current(stamps(['bad', '1'])), await values.current(stamps(['bad', '1']))];
  expect(first.get('bad')?.error).toEqual(new Error('cut off'));
  expect(second.get('bad')).toBe(first.get('bad'));
  expect(reads).toHaveLength(1);
  await opened().current(stamps(['bad', '1']));
  expect(reads).toHaveLength(2);
});

test('kinds do not mix', async () => {
  await opened('length').current(stamps(['a', '1']));
  await opened('other').current(stamps(['a', '1']));
  expect(reads).toHaveLength(2);
});

test('a damaged index, and one of another version, are created anew', async () => {
  await opened().current(stamps(['a', '1']));
  await writeFile(join(directory, '.index.sqlite'), 'no database '.repeat(1000));
  expect((await opened().current(stamps(['a', '1']))).get('a')?.value).toEqual({ length: 1 });
  const database = new DatabaseSync(join(directory, '.index.sqlite'));
  database.exec('PRAGMA user_version = 2');
  database.close();
  await opened().current(stamps(['a', '1']));
  await opened().current(stamps(['a', '1']));
  expect(reads).toHaveLength(3);
});

test('while another process writes the index, values are read from the files', async () => {
  await opened().current(stamps(['a', '1']));
  const other = new DatabaseSync(join(directory, '.index.sqlite'));
  other.exec('BEGIN EXCLUSIVE');
  try {
    expect((await opened().current(stamps(['a', '1']))).get('a')?.value).toEqual({ length: 1 });
  } finally {
    other.close();
  }
});

test('without a place for the index, values are read from the files', async () => {
  store = new RunStore(join(directory, 'nowhere'));
  expect((await opened().current(stamps(['a', '1']))).get('a')?.value).toEqual({ length: 1 });
  await mkdir(join(directory, 'nowhere', '.index.sqlite'), { recursive: true });
  expect((await opened().current(stamps(['a', '1']))).get('a')?.value).toEqual({ length: 1 });
  expect(reads).toHaveLength(2);
});
