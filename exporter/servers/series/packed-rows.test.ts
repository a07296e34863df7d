import { openSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, afterEach, beforeEach } from '@jest/globals';
import fc from 'fast-check';
import { PackedRows, BlockFile } from './packed-rows.ts';

describe('packed rows', () => {
  /** Steps as servers make them, and whatever else a double may hold. */
  const NUMBERS = fc.oneof(
    fc.integer({ min: 0, max: 300 }),
    fc.integer({ min: 0, max: 70_000 }),
    fc.integer({ min: -1, max: 5e9 }),
    fc.constantFrom(0, -0, NaN, Infinity, Number.MAX_SAFE_INTEGER, 2 ** 53 + 2, 0.1),
    fc.double(),
  );
  const COLUMN = fc.oneof(
    fc.constantFrom(0, 1, -0, NaN).map((value) => (row: number) => value + 0 * row || value),
    fc.tuple(NUMBERS, fc.integer({ min: 0, max: 1000 })).map(
      ([base, step]) =>
        (row: number) =>
          base + step * row,
    ),
    fc
      .array(NUMBERS, { minLength: 1, maxLength: 50 })
      .map((values) => (row: number) => values[row % values.length] ?? NaN),
  );

  test('every number is read as it was added', () => {
    fc.assert(
      fc.property(
        fc.array(COLUMN, { minLength: 1, maxLength: 10 }),
        fc.integer({ min: 0, max: 600 }),
        (columns, count) => {
          const rows = new PackedRows(columns.length);
          const added = Array.from({ length: count }, (_, row) => columns.map((column) => column(row)));
          for (const row of added) rows.pushRow(Float64Array.from(row));
          const read = added.map((values, row) => values.map((_, column) => rows.get(row, column)));
          expect(rows.length).toBe(count);
          expect(read).toEqual(added);
          expect(rows.get(count)).toBeNaN();
          expect([rows.get(-1), rows.get(0, -1), rows.get(0, columns.length)]).toEqual([NaN, NaN, NaN]);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('an hour of a histogram and of a counter take a quarter of their doubles', () => {
    const HOUR = 3600;
    const wide = new PackedRows(22);
    const narrow = new PackedRows(1);
    const before = process.memoryUsage().arrayBuffers;
    const counts = new Float64Array(22);
    for (let second = 0; second < HOUR; second++) {
      for (let bucket = 0; bucket < 20; bucket++) counts[bucket] = (counts[bucket] ?? 0) + (bucket % 5);
      counts[20] = (counts[20] ?? 0) + 0.1;
      counts[21] = second * 20;
      wide.pushRow(counts);
      narrow.push(second * 7);
    }
    const bytes = process.memoryUsage().arrayBuffers - before;
    expect(bytes).toBeLessThan((HOUR * (22 + 1) * 8) / 4);
    expect([wide.get(HOUR - 1, 3), narrow.get(HOUR - 1)]).toEqual([HOUR * 3, (HOUR - 1) * 7]);
  });
});

describe('block file', () => {
  let directory: string;
  let file: BlockFile;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'llmbench-blocks-'));
    file = BlockFile.create(join(directory, 'samples'));
  });
  afterEach(async () => {
    file.close();
    await rm(directory, { recursive: true });
  });

  function block(bytes: readonly number[]): DataView {
    return new DataView(Uint8Array.from(bytes).buffer);
  }

  const bytesAt = (place: number | null): readonly number[] => {
    const { buffer, byteOffset, byteLength } = file.at(place as number);
    return [...new Uint8Array(buffer, byteOffset, byteLength)];
  };

  test('blocks of any length are read as they were kept, in any order', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 9000 }), { minLength: 1, maxLength: 60 }), (lengths) => {
        const blocks = lengths.map((length, i) => Array.from({ length }, (_, at) => (at * 7 + i) % 256));
        const places = blocks.map((bytes) => file.put(block(bytes)));
        const order = [...places.keys()].reverse();
        expect(order.map((i) => bytesAt(places[i] as number))).toEqual(order.map((i) => blocks[i]));
      }),
      { numRuns: 30 },
    );
  });

  test('rows with a storage are the same numbers, and every full block is in it', () => {
    const kept: (number | null)[] = [];
    const storage = {
      put: (full: DataView) => {
        const place = file.put(full);
        kept.push(place);
        return place;
      },
      at: (place: number) => file.at(place),
    };
    const inFile = new PackedRows(12, storage);
    const inMemory = new PackedRows(12);
    for (let row = 0; row < 20_000; row++) inFile.pushRow(Float64Array.from({ length: 12 }, (_, i) => row * i * 0.1));
    for (let row = 0; row < 20_000; row++) inMemory.pushRow(Float64Array.from({ length: 12 }, (_, i) => row * i * 0.1));
    for (const row of [0, 1, 63, 64, 9_999, 19_999])
      expect([inFile.get(row, 0), inFile.get(row, 11)]).toEqual([inMemory.get(row, 0), inMemory.get(row, 11)]);
    expect(kept).toHaveLength(Math.floor(20_000 / 64));
    expect(kept).not.toContain(null);
    expect([inFile.length, inFile.get(20_000), inFile.get(-1)]).toEqual([20_000, NaN, NaN]);
  });

  test('the file has no name, so that a killed process leaves nothing', async () => {
    file.put(block([1, 2, 3]));
    expect(await readdir(directory)).toEqual([]);
  });

  test('a file that exists is never used', async () => {
    const path = join(directory, 'mine');
    await writeFile(path, 'mine');
    expect(() => BlockFile.create(path)).toThrow('EEXIST');
    expect(await readFile(path, 'utf8')).toBe('mine');
  });

  // The kernel's device that is always full stands for a disk that is.
  test('when the file cannot be written, blocks stay where they are and everything remains readable', () => {
    const full = new BlockFile(openSync('/dev/full', 'r+'));
    const rows = new PackedRows(1, full);
    const values = Array.from({ length: 60_000 }, (_, row) => Math.sin(row));
    for (const value of values) rows.push(value);
    expect(values.map((_, row) => rows.get(row))).toEqual(values);
    full.close();
  });
});
