import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { unzipSync } from 'fflate';
import { writeZip } from './plugin-archive.ts';

const folder = mkdtempSync(join(tmpdir(), 'llmbench-archive-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const DATE = new Date('2026-11-24T23:30:00Z');

function zipped(name: string, files: readonly (readonly [string, string])[]): Buffer {
  const path = join(folder, name);
  writeZip(path, new Map(files), DATE);
  return readFileSync(path);
}

test('holds the files as they are', () => {
  const files = unzipSync(
    zipped('a.zip', [
      ['top/a.txt', 'one'],
      ['top/b/c.txt', 'two'],
    ]),
  );
  expect(Object.entries(files).map(([path, bytes]) => [path, Buffer.from(bytes).toString()])).toEqual([
    ['top/a.txt', 'one'],
    ['top/b/c.txt', 'two'],
  ]);
});

test('has the same bytes in whatever order the files are found', () => {
  const one = zipped('one.zip', [
    ['a', '1'],
    ['b', '2'],
  ]);
  expect(
    zipped('two.zip', [
      ['b', '2'],
      ['a', '1'],
    ]).equals(one),
  ).toBe(true);
});

test('has the same bytes in every time zone', () => {
  const archives = ['Asia/Tokyo', 'America/Los_Angeles', 'UTC'].map((zone) => {
    const path = join(folder, 'zone.zip');
    const program = `import { writeZip } from ${JSON.stringify(new URL('plugin-archive.ts', import.meta.url).href)};
      writeZip(${JSON.stringify(path)}, new Map([['a', '1']]), new Date(${DATE.getTime()}));`;
    execFileSync(process.execPath, ['--input-type=module', '--eval', program], { env: { ...process.env, TZ: zone } });
    return readFileSync(path).toString('hex');
  });
  expect(new Set(archives).size).toBe(1);
});
