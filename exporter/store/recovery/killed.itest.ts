import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { addRun } from '../changes/add-run.ts';
import { addedRun } from '../fixtures/added-run.ts';
import { collect } from '../fixtures/example-run.ts';
import { RunIndex } from '../index/run-index.ts';
import { openStore } from '../run-store.ts';
import { verifyRun } from '../verify-run.ts';

const PROGRAM = fileURLToPath(new URL('../fixtures/killed-writer.ts', import.meta.url));

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-killed-'));
});

afterEach(() => rm(directory, { recursive: true }));

/** Does the work on the runs and kills itself before its n-th change of the file system; whether it was killed. */
async function killedBefore(call: number, mode: 'add' | 'tag' | 'delete', runs: string): Promise<boolean> {
  const child = spawn(process.execPath, [PROGRAM, mode, runs, String(call)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  if (signal !== 'SIGKILL') expect(code).toBe(0);
  return signal === 'SIGKILL';
}

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

/** What was found after a kill before the first, second, … change, and at last after none. */
async function outcomes(mode: 'add' | 'tag' | 'delete', begin: (runs: string) => Promise<void>): Promise<string[]> {
  const all: string[] = [];
  for (let call = 1; ; call++) {
    const runs = join(directory, String(call));
    await begin(runs);
    const killed = await killedBefore(call, mode, runs);
    all.push(await found(runs));
    if (!killed) return all;
  }
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
});
