import { expect, test } from '@jest/globals';
import { pairedSlices, slicesOfDaysBefore } from './slice-doubts.ts';
import { figure, run, TTFT } from './testing/runs.ts';
import type { RunFigures } from './run-figures.ts';

const SLICE_DAYS = 1 / 288;

const slice = (name: string, day: number, place: number): RunFigures =>
  run(`${name}-${day}-${place}`, [{ ...figure(TTFT, 'mean', 1), origin: 'server' }], day + place * SLICE_DAYS);
const slicesOf = (name: string, day: number, places: readonly number[]): RunFigures[] =>
  places.map((place) => slice(name, day, place));
const named = (a: readonly RunFigures[], b: readonly RunFigures[]) => {
  const found = pairedSlices(a, b);
  const ids = (runs: readonly RunFigures[]): readonly string[] => runs.map(({ run_id }) => run_id);
  return found === null || typeof found === 'string'
    ? found
    : { a: ids(found.a), b: ids(found.b), days: found.days.map(ids) };
};

test('slices of the same time are pairs, and those of whole other days are beside them', () => {
  const a = [...slicesOf('a', 5, [1, 0]), ...slicesOf('a', 4, [0, 1]), ...slicesOf('a', 2, [1, 0]), slice('a', 3, 0)];
  expect(named(a, slicesOf('b', 5, [0, 1]))).toEqual({
    a: ['a-5-0', 'a-5-1'],
    b: ['b-5-0', 'b-5-1'],
    days: [
      ['a-2-0', 'a-2-1'],
      ['a-4-0', 'a-4-1'],
    ],
  });
});

test('an hour over midnight is of one day', () => {
  const places = [287, 288];
  expect(named([...slicesOf('a', 5, places), ...slicesOf('a', 4, places)], slicesOf('b', 5, places))).toMatchObject({
    days: [['a-4-287', 'a-4-288']],
  });
});

test.each([
  ['a slice of B that A lacks', slicesOf('a', 5, [0]), slicesOf('b', 5, [0, 1]), 'b-5-1 of B has none beside it in A'],
  ['a time of A that B lacks', slicesOf('a', 5, [0, 1]), slicesOf('b', 5, [0]), 'a-5-1 of A has none beside it in B'],
  [
    'two slices of a time',
    [slice('a', 5, 0), slice('x', 5, 0)],
    slicesOf('b', 5, [0]),
    'A has several of 2026-01-06T00',
  ],
])('%s is refused', (_, a, b, reason) => {
  expect(pairedSlices(a, b)).toContain(reason);
});

test('runs of a client are no slices', () => {
  const client = run('client', [figure(TTFT, 'mean', 1)]);
  expect(pairedSlices([client], [client])).toBeNull();
});

test('of what is stored, the same times of the days before are those of the scenario', () => {
  const stored = [
    ...slicesOf('a', 4, [0, 1, 2]),
    ...slicesOf('again', 4, [1]),
    ...slicesOf('a', 5, [0]),
    ...slicesOf('a', 6, [0]),
    { ...slice('other', 3, 0), scenario: 'other' },
  ];
  expect(slicesOfDaysBefore(stored, slicesOf('a', 5, [0, 1])).map(({ run_id }) => run_id)).toEqual([
    'a-4-0',
    'again-4-1',
  ]);
});
