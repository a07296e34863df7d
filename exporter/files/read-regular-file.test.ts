import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { checkRegularFile, readRegularFile } from './read-regular-file.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-regular-'));
  await writeFile(join(folder, 'file'), 'text');
});

afterEach(() => rm(folder, { recursive: true }));

test('a regular file is read', async () => {
  expect(await readRegularFile(join(folder, 'file'))).toBe('text');
});

test('a symbolic link is rejected, also to a file in the same folder', async () => {
  await symlink(join(folder, 'file'), join(folder, 'link'));
  await expect(readRegularFile(join(folder, 'link'))).rejects.toMatchObject({ code: 'ELOOP' });
});

test('a FIFO is rejected at once instead of waiting for a writer', async () => {
  execFileSync('mkfifo', [join(folder, 'fifo')]);
  await expect(readRegularFile(join(folder, 'fifo'))).rejects.toThrow('not a regular file');
});

test('a file in a linked folder is rejected before a library opens it', async () => {
  await checkRegularFile(join(folder, 'file'));
  await symlink(folder, join(folder, 'linked'));
  await expect(checkRegularFile(join(folder, 'linked', 'file'))).rejects.toThrow('its folder is a symbolic link');
});

test('a device and a folder are rejected', async () => {
  await expect(readRegularFile('/dev/zero')).rejects.toThrow('not a regular file');
  await expect(readRegularFile(folder)).rejects.toThrow('not a regular file');
});
