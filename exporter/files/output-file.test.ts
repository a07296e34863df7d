import { execFileSync } from 'node:child_process';
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { replaceFile } from './durable-file.ts';
import { outputFile } from './output-file.ts';

let folder: string;
const at = (name: string): string => join(folder, name);

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'llmbench-output-')));
});

afterEach(() => rm(folder, { recursive: true }));

describe('the output that a user names', () => {
  test('a new or a regular file is replaced', async () => {
    expect(await outputFile(at('new'))).toEqual({ path: at('new'), replaceable: true });
    await writeFile(at('old'), 'x');
    expect(await outputFile(at('old'))).toEqual({ path: at('old'), replaceable: true });
  });

  test('a symbolic link stands for its target, also if that does not exist yet', async () => {
    await writeFile(at('old'), 'x');
    await symlink('old', at('link'));
    await symlink('later', at('dangling'));
    expect(await outputFile(at('link'))).toEqual({ path: at('old'), replaceable: true });
    expect(await outputFile(at('dangling'))).toEqual({ path: at('later'), replaceable: true });
  });

  test('a FIFO and a device are not replaced, also behind a link', async () => {
    execFileSync('mkfifo', [at('fifo')]);
    await symlink('/dev/null', at('link'));
    expect(await outputFile(at('fifo'))).toEqual({ path: at('fifo'), replaceable: false });
    expect(await outputFile('/dev/null')).toEqual({ path: '/dev/null', replaceable: false });
    expect(await outputFile(at('link'))).toEqual({ path: '/dev/null', replaceable: false });
  });
});

describe('a file with a name of our own', () => {
  test('is replaced if it is a regular file', async () => {
    await replaceFile(at('a'), 'one');
    await replaceFile(at('a'), 'two');
    expect(await readFile(at('a'), 'utf8')).toBe('two');
  });

  test('leaves nothing behind when it cannot take its place', async () => {
    await mkdir(at('folder'));
    await expect(replaceFile(at('folder'), 'x')).rejects.toThrow('is not a regular file');
    for (const unnamed of ['', at('missing/a')]) {
      await expect(replaceFile(unnamed, 'x', () => at('new.tmp'))).rejects.toThrow('ENOENT');
    }
    expect(await readdir(folder)).toEqual(['folder']);
  });

  test('a symbolic link and a FIFO are neither replaced nor followed', async () => {
    await writeFile(at('elsewhere'), 'kept');
    await symlink('elsewhere', at('link'));
    execFileSync('mkfifo', [at('fifo')]);
    for (const name of ['link', 'fifo']) {
      await expect(replaceFile(at(name), 'x')).rejects.toThrow(`${at(name)} is not a regular file and is not replaced`);
    }
    expect(await readlink(at('link'))).toBe('elsewhere');
    expect(await readFile(at('elsewhere'), 'utf8')).toBe('kept');
    expect((await lstat(at('fifo'))).isFIFO()).toBe(true);
  });
});
