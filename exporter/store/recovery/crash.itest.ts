import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ResultFile } from '../../../core/run/result.ts';
import { countOf } from '../../../core/run/record.ts';
import { collect } from '../fixtures/example-run.ts';
import { killedBefore, leftByKills } from '../fixtures/killed.ts';
import { openStore } from '../run-store.ts';

const program = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}.ts`, import.meta.url));

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-crash-'));
});

afterEach(() => rm(directory, { recursive: true }));

/** The names in a folder, without those with a leading dot; empty if the folder does not exist. */
async function names(folder: string): Promise<string[]> {
  const all = await readdir(folder).catch(() => []);
  return all.filter((name) => !name.startsWith('.')).sort();
}

/**
 * Opens the store, checks that nothing is left over and that opening again changes nothing; returns the state of the
 * run.
 */
async function recovered(runs: string): Promise<string> {
  const { store } = await openStore(runs);
  const listed = await store.list();
  expect(await names(join(runs, '.unfinished'))).toEqual([]);
  expect((await openStore(runs)).messages).toEqual([]);
  expect(await store.list()).toEqual(listed);
  if (listed.length === 0) return 'never begun';
  const { run } = listed[0] ?? {};
  if (!run) throw new Error('the run is damaged');
  const result = await store.readResult(run.run_id);
  const records = await collect(store.readRecords(run));
  expect(result.status).toBe(run.status);
  expect(countOf(result.requests, ['ok', 'error'])).toBe(records.filter(({ phase }) => phase === 'measure').length);
  expect((await readdir(join(runs, run.run_id), { recursive: true })).sort()).toEqual([
    'checksums.sha256',
    'records',
    'records/0.parquet',
    'result.json',
    'run.json',
  ]);
  expect(run.process).toBeNull();
  if (run.status === 'completed') expect([run.recovered, records.length]).toEqual([false, 10]);
  else expect([run.status, run.recovered]).toEqual(['aborted', true]);
  return run.status;
}

describe('killed with SIGKILL before every change of the file system', () => {
  test('while a run is written: it is complete, recovered, or had not started', async () => {
    const outcomes: string[] = [];
    const runs = join(directory, 'runs');
    for (const left of await leftByKills('write', runs, join(directory, 'left'))) outcomes.push(await recovered(left));
    // In the order of the calls a run has not begun, then is lost half-way, then is complete.
    const order = ['never begun', 'aborted', 'completed'];
    expect(outcomes).toEqual(outcomes.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)));
    expect(new Set(outcomes)).toEqual(new Set(order));
    expect(outcomes.length).toBeGreaterThan(15);
  });

  test('while a run is recovered: the next one recovers it', async () => {
    const abandoned = join(directory, 'abandoned');
    // Before which call the run has begun and has records does not matter much: look for the last that aborts.
    for (let call = 12; ; call++) {
      await rm(abandoned, { recursive: true, force: true });
      await killedBefore(call, 'write', abandoned);
      const copy = join(directory, 'copy');
      await cp(abandoned, copy, { recursive: true });
      const status = await recovered(copy);
      await rm(copy, { recursive: true });
      if (status === 'aborted') break;
    }
    for (const left of await leftByKills('recover', abandoned, join(directory, 'left'))) {
      expect(await recovered(left)).toBe('aborted');
    }
  });
});

test('two processes that recover at once: each run is finished once, and reported once', async () => {
  const runs = join(directory, 'runs');
  for (let i = 0; i < 4; i++) {
    const one = join(directory, String(i));
    await killedBefore(16 + 3 * i, 'write', one);
    await cp(one, runs, { recursive: true });
  }
  const source = `
      import { openStore } from ${JSON.stringify(new URL('../run-store.ts', import.meta.url).href)};
      const { messages } = await openStore(process.argv[1]);
      console.log(JSON.stringify(messages));`;
  const open = async (): Promise<string[]> => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', source, runs]);
    return JSON.parse(stdout) as string[];
  };
  const unfinished = await names(join(runs, '.unfinished'));
  expect(unfinished).toHaveLength(4);
  const messages = (await Promise.all([open(), open(), open()])).flat();
  expect(messages.map((message) => message.split(' ')[1]).sort()).toEqual(unfinished);
  const { store } = await openStore(runs);
  expect((await store.list()).map(({ run_id, damage }) => [run_id, damage]).sort()).toEqual(
    unfinished.map((runId) => [runId, null]),
  );
});

test('a full disk: one clear line, and the complete result', async () => {
  if (process.platform === 'win32') return;
  // The limit on the size of a file (in KiB) stands for a full disk: the write fails in the same way, with EFBIG.
  const command = 'ulimit -f 256; exec "$0" "$@"';
  const { stdout } = await promisify(execFile)('bash', [
    '-c',
    command,
    process.execPath,
    program('full-disk-writer'),
    directory,
  ]);
  const { message, notes, result } = JSON.parse(stdout) as { message: string; notes: string[]; result: ResultFile };
  expect(message).toMatch(/^the run could not be stored in .*: the file may not become larger \(EFBIG\)$/);
  expect(notes).toEqual([expect.stringContaining('percentiles are estimates with bounds')]);
  // 5,000 requests, the first a warm-up, every fifth failed.
  expect(result.requests).toEqual({ ok: 3999, error: 1000, timeout: 0, cancelled: 0 });
  const ttft = result.measures.find(
    ({ measure, population }) => measure === 'time_to_first_token' && population === 'ok',
  );
  expect(ttft).toMatchObject({ n: 3999, percentiles: { p50: { value: expect.closeTo(0.02, 12), bounds: null } } });
  // Records that reached the disk are recovered.
  const { store, messages } = await openStore(directory);
  expect(messages).toEqual([
    expect.stringMatching(/was finished as aborted: its process had ended; \d+ requests are kept/),
  ]);
  expect(await store.list()).toMatchObject([{ run: { status: 'aborted', recovered: true } }]);
});
