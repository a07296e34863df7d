import { link, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { RunFile } from '../../../core/run/run.ts';
import { addRun } from './add-run.ts';
import { fileSha256, readChecksums, textSha256 } from '../sealed/checksums.ts';
import { editRun } from './edit-run.ts';
import { addedRun } from '../fixtures/added-run.ts';
import { openStore } from '../run-store.ts';
import type { RunStore } from '../run-store.ts';
import { DamagedRunError } from '../../errors/expected-error.ts';

let directory: string;
let store: RunStore;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-edit-'));
  ({ store } = await openStore(directory));
  await addRun(store, addedRun('r1'));
});

afterEach(() => rm(directory, { recursive: true }));

const tagged = (tag: string) => (run: RunFile) => ({ ...run, tags: [...run.tags, tag].sort() });
const leftOver = async (): Promise<string[]> => readdir(join(directory, '.unfinished'));

async function sumsHold(): Promise<boolean> {
  const sums = await readChecksums(join(directory, 'r1'));
  return sums?.get('run.json') === (await fileSha256(join(directory, 'r1', 'run.json')));
}

test('run.json and its checksum change together', async () => {
  expect((await editRun(store, 'r1', tagged('a'))).tags).toEqual(['a']);
  expect((await store.readRun('r1')).tags).toEqual(['a']);
  expect(await sumsHold()).toBe(true);
  expect(await leftOver()).toEqual([]);
});

test('concurrent changes are all kept', async () => {
  // Enough of them to take turns for longer than a run that differs from its checksums is waited for.
  const tags = Array.from({ length: 60 }, (_, i) => `t${10 + i}`);
  await Promise.all(tags.map((tag) => editRun(store, 'r1', tagged(tag))));
  expect((await store.readRun('r1')).tags).toEqual(tags);
  expect(await sumsHold()).toBe(true);
});

test('a file that differs from its checksum is not sealed again', async () => {
  const path = join(directory, 'r1', 'run.json');
  await writeFile(path, (await readFile(path, 'utf8')).replace('"example"', '"forged"'));
  await expect(editRun(store, 'r1', tagged('a'))).rejects.toThrow(DamagedRunError);
  expect((await store.readRun('r1')).tags).toEqual([]);
});

test('a run sealed without checksums gets none', async () => {
  await rm(join(directory, 'r1', 'checksums.sha256'));
  await editRun(store, 'r1', tagged('a'));
  expect(await readChecksums(join(directory, 'r1'))).toBeNull();
});

test('the recorded change of an ended process is applied when the store is opened', async () => {
  const path = join(directory, 'r1', 'run.json');
  const base = await readFile(path, 'utf8');
  const run = `${JSON.stringify({ ...(JSON.parse(base) as object), tags: ['late'] })}\n`;
  const checksums = `${textSha256(run)}  run.json\n`;
  const gone = { pid: 4_000_000, start_time: 'epoch.1' };
  const edit = { owner: gone, base: textSha256(base), run, checksums };
  await mkdir(join(directory, '.unfinished'), { recursive: true });
  await writeFile(join(directory, '.unfinished', 'r1.edit-0~4000000~epoch.1'), JSON.stringify(edit));
  await link(join(directory, '.unfinished', 'r1.edit-0~4000000~epoch.1'), join(directory, '.unfinished', 'r1.edit'));
  expect((await openStore(directory)).messages).toEqual([]);
  expect((await store.readRun('r1')).tags).toEqual(['late']);
  expect(await sumsHold()).toBe(true);
  expect(await leftOver()).toEqual([]);
});
