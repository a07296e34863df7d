import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PackedRows } from './packed-rows.ts';

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
