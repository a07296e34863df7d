import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { addRun } from '../changes/add-run.ts';
import { addedRun } from '../fixtures/added-run.ts';
import { collect } from '../fixtures/example-run.ts';
import { killedBefore, leftByKills } from '../fixtures/killed.ts';
import { RunIndex } from '../index/run-index.ts';
import { openStore } from '../run-store.ts';
import { verifyRun } from '../verify-run.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-killed-'));
});

afterEach(() => rm(directory, { recursive: true }));

/**
 * What is there when the store is opened after that: the tags of `r1`, or `absent`. A run that is there is whole, by its
 * checksums too; nothing is left over; opening again changes nothing.
 */
async function found(runs: string): Promise<string> {
  const { store } = await openStore(runs);
  expect((await openStore(runs)).messages).toEqual([]);
  const leftOver = await readdir(join(runs, '.unfinished')).catch(() => []);
  expect(leftOver).toEqual([]);
  const listed = await RunIndex.use(store, (index) => index.runs());
  expect(listed.map(({ run_id }) => run_id)).toEqual(await store.runIds());
  const [first] = listed;
  if (first === undefined) return 'absent';
  const files = await readdir(join(runs, 'r1'), { recursive: true });
  expect(files.sort()).toEqual(['checksums.sha256', 'records', 'records/0.parquet', 'result.json', 'run.json']);
  expect(await verifyRun(store, 'r1')).toEqual({ run_id: 'r1', state: 'ok', files: 3, problems: [] });
  expect(await collect(store.readRecords(await store.readRun('r1')))).toHaveLength(5);
  return first.tags.join();
}

/** What is found after a kill before the first, second, … change, and at last after none. */
async function outcomes(mode: 'add' | 'tag' | 'delete', begin: (runs: string) => Promise<void>): Promise<string[]> {
  const runs = join(directory, 'runs');
  await begin(runs);
  const all: string[] = [];
  for (const left of await leftByKills(mode, runs, join(directory, 'left'))) all.push(await found(left));
  return all;
}

async function withRun(runs: string): Promise<void> {
  const prepared = join(directory, 'prepared');
  const { store } = await openStore(prepared);
  if ((await store.runIds()).length === 0) await addRun(store, addedRun('r1'));
  await cp(prepared, runs, { recursive: true });
}

/** Each value once, in order of appearance: a state that was left never returns. */
const states = (all: readonly string[]): string[] => all.filter((state, i) => state !== all[i - 1]);

describe('killed with SIGKILL before every change of the file system', () => {
  test('while a run is added: it is absent, then complete', async () => {
    const all = await outcomes('add', () => Promise.resolve());
    expect(states(all)).toEqual(['absent', '']);
    expect(all.length).toBeGreaterThan(10);
  });

  test('while a run is tagged: it has its old tags and checksums, then its new ones', async () => {
    const all = await outcomes('tag', withRun);
    expect(states(all)).toEqual(['', 'late']);
    expect(all.length).toBeGreaterThan(8);
  });

  test('while a run is deleted: it is complete, then absent', async () => {
    expect(states(await outcomes('delete', withRun))).toEqual(['', 'absent']);
  });

  test('the copies of the other tests are what a kill leaves', async () => {
    const files = async (runs: string): Promise<string[]> => {
      const names = await readdir(runs, { recursive: true }).catch(() => []);
      // Names of temporary files and folders have the process in them.
      return names.map((name) => name.replace(/~\d+~\w+\.\d+|(?<=\.)\d+(?=\.tmp)/g, '')).sort();
    };
    const runs = join(directory, 'runs');
    const left = await leftByKills('add', runs, join(directory, 'left'));
    for (let call = 1; call < left.length; call += 4) {
      const killed = join(directory, `killed-${call}`);
      expect(await killedBefore(call, 'add', killed)).toBe(true);
      expect({ call, files: await files(killed) }).toEqual({ call, files: await files(left[call - 1] ?? '') });
    }
  });
});
