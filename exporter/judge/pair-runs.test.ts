import { expect, test } from '@jest/globals';
import { DISCARDED_TAG, orderOfPair, PairRuns, type PairRun } from './check-pairs.ts';

const run = (run_id: string, changes: Partial<PairRun> = {}): PairRun => ({
  ...{ run_id, status: 'completed', damage: null, tags: [] },
  ...changes,
});

test('a pair without runs', () => {
  const runs = new PairRuns('x', [run('y-01a'), run('x'), run('xx-01a')]);
  expect([runs.usable(0, 'a'), runs.nextName(0, 'a'), runs.nextName(11, 'b')]).toEqual([null, 'x-01a', 'x-12b']);
  expect(runs.discarded(0)).toBe(0);
});

test('of several tries the completed one counts', () => {
  const runs = new PairRuns('x', [run('x-01a', { status: 'failed' }), run('x-01a-2', { damage: 'no JSON' })]);
  expect([runs.usable(0, 'a'), runs.nextName(0, 'a')]).toEqual([null, 'x-01a-3']);
  runs.set(run('x-01a-3'));
  expect(runs.usable(0, 'a')?.run_id).toBe('x-01a-3');
  expect(runs.usable(0, 'b')).toBeNull();
});

test('a discarded run is no longer used, and counts once per pair', () => {
  const runs = new PairRuns('x', [run('x-01a'), run('x-01b')]);
  for (const name of ['x-01a', 'x-01b']) runs.set(run(name, { tags: [DISCARDED_TAG, 'release'] }));
  expect([runs.usable(0, 'a'), runs.usable(0, 'b'), runs.discarded(0)]).toEqual([null, null, 1]);
  expect([runs.nextName(0, 'a'), runs.nextName(0, 'b')]).toEqual(['x-01a-2', 'x-01b-2']);
});

test('a hundred pairs and more do not share names', () => {
  const runs = new PairRuns('x', [run('x-100a'), run('x-10a')]);
  expect([runs.usable(9, 'a')?.run_id, runs.usable(99, 'a')?.run_id]).toEqual(['x-10a', 'x-100a']);
  expect(runs.usable(0, 'a')).toBeNull();
});

test('the order of the pairs is ABBA BAAB: both sides are first as often, and no trend favors one', () => {
  const order = [0, 1, 2, 3].map((pair) => orderOfPair(pair).join('').toUpperCase()).join(' ');
  expect(order).toBe('AB BA BA AB');
  const positions = { a: 0, b: 0 };
  for (let pair = 0; pair < 8; pair++)
    for (const [i, side] of orderOfPair(pair).entries()) positions[side] += 2 * pair + i;
  expect(positions.a).toBe(positions.b);
});
