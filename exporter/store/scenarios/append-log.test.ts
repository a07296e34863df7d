import { execFile } from 'node:child_process';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { appendEntry, readEntries } from './append-log.ts';

let directory: string;
let path: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-log-'));
  path = join(directory, 'a', 'b', 'log.jsonl');
});

afterEach(() => rm(directory, { recursive: true }));

test('entries are read in the order in which they were appended', async () => {
  await appendEntry(path, { n: 1 });
  await appendEntry(path, { n: 2, text: 'line\nbreak' });
  expect(await readEntries(path)).toEqual({ entries: [{ n: 1 }, { n: 2, text: 'line\nbreak' }], damagedLines: [] });
});

test('a log that does not exist is empty', async () => {
  expect(await readEntries(path)).toEqual({ entries: [], damagedLines: [] });
});

test('a truncated entry damages only itself, wherever it was truncated', async () => {
  await appendEntry(path, { n: 1 });
  const whole = `${JSON.stringify({ n: 2, long: 'x'.repeat(20) })}\n`;
  const before = await readFile(path);
  for (let length = 1; length < whole.length - 1; length++) {
    await writeFile(path, before);
    await appendFile(path, whole.slice(0, length));
    await appendEntry(path, { n: 3 });
    const { entries, damagedLines } = await readEntries(path);
    expect(entries).toEqual([{ n: 1 }, { n: 3 }]);
    expect(damagedLines).toEqual([2]);
  }
});

test('an entry without line end is complete', async () => {
  await appendEntry(path, { n: 1 });
  await appendFile(path, '{"n":2}');
  await appendEntry(path, { n: 3 });
  expect((await readEntries(path)).entries).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
});

test('concurrent appends lose nothing', async () => {
  const module = new URL('append-log.ts', import.meta.url).href;
  const program = (name: string): string =>
    `import { appendEntry } from ${JSON.stringify(module)};
     for (let n = 0; n < 25; n++) await appendEntry(${JSON.stringify(path)}, { name: '${name}', n, fill: 'y'.repeat(3000) });`;
  const names = ['p', 'q', 'r', 's'];
  const run = promisify(execFile);
  await Promise.all(names.map((name) => run(process.execPath, ['--input-type=module', '--eval', program(name)])));
  const { entries, damagedLines } = await readEntries(path);
  expect(damagedLines).toEqual([]);
  for (const name of names) {
    expect(entries.filter((entry) => entry['name'] === name).map(({ n }) => n)).toEqual(
      Array.from({ length: 25 }, (_, n) => n),
    );
  }
});
