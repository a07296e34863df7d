import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SummaryAccumulator } from '../../core/measures/summary.ts';
import { exampleRecord } from './fixtures/example-run.ts';
import { FileShelf } from './file-shelf.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-shelf-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

const block = (n: number): Float64Array => new Float64Array(100).map((_, i) => n + i / 1000);

test('returns the stored blocks within its memory limit', async () => {
  const shelf = new FileShelf(join(folder, 'figures.tmp'), 2);
  for (let n = 0; n < 10; n++) shelf.put(block(n));
  await shelf.settled();
  expect(shelf.heldBlocks).toBe(2);
  for (const n of [9, 0, 5, 2, 1]) expect(shelf.block(n)).toEqual(block(n));
  expect(() => shelf.block(10)).toThrow(RangeError);
  // No file is left behind when the process ends.
  expect(await readdir(folder)).toEqual([]);
  await shelf.close();
});

test('holds no block beyond its memory limit, not even for a moment, when it waits for the disk', async () => {
  const shelf = new FileShelf(join(folder, 'figures.tmp'), 2, 'waiting');
  for (let n = 0; n < 10; n++) {
    shelf.put(block(n));
    expect(shelf.heldBlocks).toBeLessThanOrEqual(2);
  }
  for (const n of [9, 0, 5, 2, 1]) expect(shelf.block(n)).toEqual(block(n));
  await shelf.close();
});

test('uses no file for few blocks', async () => {
  const shelf = new FileShelf(join(folder, 'no', 'such', 'folder'), 2);
  shelf.put(block(0));
  shelf.put(block(1));
  await shelf.settled();
  expect(shelf.block(1)).toEqual(block(1));
  await shelf.close();
});

test.each(['background', 'waiting'] as const)('blocks that cannot be written stay in memory (%s)', async (how) => {
  const shelf = new FileShelf(join(folder, 'no', 'such', 'folder'), 1, how);
  for (let n = 0; n < 4; n++) shelf.put(block(n));
  await shelf.settled();
  expect(shelf.heldBlocks).toBe(4);
  for (const n of [0, 1, 2, 3]) expect(shelf.block(n)).toEqual(block(n));
  await shelf.close();
});

test('a summary is the same with figures in memory or in a file', async () => {
  const shelf = new FileShelf(join(folder, 'figures.tmp'), 0);
  const [inMemory, inFile] = [{}, { shelf }].map(
    (where) => new SummaryAccumulator({ plannedConcurrency: 2, ...where }),
  );
  // More than one block of rows.
  for (let i = 0; i < 10_000; i++) {
    const record = exampleRecord(i);
    inMemory?.add(record);
    inFile?.add(record);
  }
  await shelf.settled();
  expect(shelf.heldBlocks).toBe(0);
  expect(inFile?.summarize(null)).toEqual(inMemory?.summarize(null));
  await shelf.close();
});
