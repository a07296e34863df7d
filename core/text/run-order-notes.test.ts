import { expect, test } from '@jest/globals';
import { oldestFirst, type OrderedRun } from '../run/run-id.ts';
import { orderNotes, unknownNewest } from './run-order-notes.ts';

const DAY = (day: number): string => `2026-11-${String(day).padStart(2, '0')}T00:00:00.000Z`;

const started = (run_id: string, day: number): OrderedRun => ({ run_id, start: DAY(day) });
const undated = (run_id: string, day: number, import_position: number): OrderedRun => ({
  run_id,
  start: null,
  imported_at: DAY(day),
  import_position,
});
const unknown = (run_id: string): OrderedRun => ({ run_id, start: null, imported_at: null, import_position: null });

const ordered = (...runs: OrderedRun[]): string[] => runs.toSorted(oldestFirst).map(({ run_id }) => run_id);

test('an import without a start has its place by when it was imported, and then by its place in that import', () => {
  expect(
    ordered(
      undated('third', 10, 10),
      undated('second', 10, 9),
      undated('first', 10, 2),
      started('after', 11),
      started('before', 9),
      undated('last', 12, 0),
    ),
  ).toEqual(['before', 'first', 'second', 'third', 'after', 'last']);
});

test('a start counts where it is known, whenever the run was imported', () => {
  const imported: OrderedRun = { run_id: 'dated', start: DAY(1), imported_at: DAY(20), import_position: 0 };
  expect(ordered(started('a', 2), imported, started('b', 3))).toEqual(['dated', 'a', 'b']);
});

test('runs of one second are in the order of their files, and else of their ids', () => {
  const of = (run_id: string, import_position: number): OrderedRun => ({
    ...undated(run_id, 5, import_position),
    start: DAY(1),
  });
  expect(ordered(of('a', 2), of('b', 1), started('d', 1), started('c', 1))).toEqual(['c', 'd', 'b', 'a']);
});

test('runs of which nothing is known come first, and none of them is the newest', () => {
  const runs = [started('b', 1), unknown('x'), unknown('a')];
  expect(ordered(...runs)).toEqual(['a', 'x', 'b']);
  expect(unknownNewest(runs, 1)).toBeNull();
  expect(unknownNewest(runs, 2)).toContain('the order of 2 runs is not known');
  // All of them are the newest three, whatever their order.
  expect(unknownNewest(runs, 3)).toBeNull();
  expect(unknownNewest([unknown('x'), unknown('y')], 1)).toContain('x, y; name the runs, or import their files again');
});

test('what a reader has to know of the order', () => {
  expect(orderNotes([started('a', 1)])).toEqual([]);
  expect(orderNotes([started('a', 1), undated('b', 2, 0), unknown('c'), unknown('d')])).toEqual([
    '1 of 4 runs has no start time: their order is that of the import',
    '2 of 4 runs have no start time and no time of import: their order is not known',
  ]);
});
