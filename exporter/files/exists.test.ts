import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { makeDirectory } from './exists.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-directory-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('a directory', () => {
  test('is created with its parents, concurrently, and may exist', async () => {
    const path = join(folder, 'a', 'b', 'c');
    await Promise.all([makeDirectory(path), makeDirectory(path), makeDirectory(join(folder, 'a', 'd'))]);
    await makeDirectory(path);
    expect((await stat(path)).isDirectory()).toBe(true);
    expect((await stat(join(folder, 'a', 'd'))).isDirectory()).toBe(true);
  });

  test('is rejected below a file', async () => {
    await writeFile(join(folder, 'file'), '');
    await expect(makeDirectory(join(folder, 'file', 'runs'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  });

  (existsSync('/proc/self') ? test : test.skip)('in which nothing can be created ends with an error', async () => {
    await expect(makeDirectory('/proc/llmbench/runs')).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
