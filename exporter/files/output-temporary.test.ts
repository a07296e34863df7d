import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { besideOutput } from './output-temporary.ts';
import { ownIdentity } from './process-identity.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-output-'));
});
afterEach(() => rm(folder, { recursive: true }));

const put = async (name: string): Promise<string> => {
  await writeFile(join(folder, name), 'x');
  return name;
};

test('what ended processes have left in the folder is removed, and nothing else', async () => {
  const own = ownIdentity();
  const ended = Number(execFileSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }));
  await put(`rows.csv.${ended}~${own.start_time}.tmp`);
  await put(`other.jsonl.${process.pid}~${own.start_time}1.tmp`);
  const elsewhere = await put('old.csv.1~0123456789ab.17.tmp');
  await utimes(join(folder, elsewhere), 1, 1);
  const kept = [
    await put('rows.csv'),
    await put('rows.csv.tmp'),
    await put(`rows.csv.${ended}.tmp`),
    await put(`rows.csv.${own.pid}~${own.start_time}.tmp`),
    // Of another machine, and touched a moment ago.
    await put('rows.csv.1~0123456789ab.18.tmp'),
  ];
  const temporary = await besideOutput(join(folder, 'rows.csv'));
  expect(temporary).toBe(join(folder, `rows.csv.${own.pid}~${own.start_time}.tmp`));
  expect((await readdir(folder)).sort()).toEqual(kept.sort());
});

test('a folder that cannot be read is no error', async () => {
  const path = join(folder, 'missing', 'rows.csv');
  expect(await besideOutput(path)).toContain(path);
});
