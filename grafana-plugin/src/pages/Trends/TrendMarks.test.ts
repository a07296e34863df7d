import { linearScale } from '../../../../core/chart/scale.ts';
import { dotGroups, dotPath, MANY } from './TrendMarks.tsx';
import type { TrendPoint } from './trend-points.ts';

function point(place: number, run: Partial<TrendPoint['run']> = {}): TrendPoint {
  const all = { run_id: `r${place}`, verdict: null, accepted: false, pinned: false, ...run } as TrendPoint['run'];
  return { place, run: all, low: 1, high: 1, interval: null, n: null };
}

const NONE: ReadonlySet<string> = new Set();

test('few runs are a dot each', () => {
  const groups = dotGroups([point(0), point(1), point(2, { verdict: 'regressed' })], NONE);
  expect(groups.map(({ points }) => points.length)).toEqual([1, 1, 1]);
});

test('many runs are drawn by their look, the picked ones alone and above the others', () => {
  const many = Array.from({ length: MANY + 1 }, (_, i) =>
    point(i, { verdict: i < 100 ? null : 'regressed', accepted: i < 20, pinned: i < 3 })
  );
  const groups = dotGroups(many, new Set(['r50']));
  expect(groups.map(({ points, isPicked }) => [points.length, isPicked])).toEqual([
    [3, false],
    [17, false],
    [79, false],
    [MANY + 1 - 100, false],
    [1, true],
  ]);
  expect(groups.at(-1)?.points[0].run.run_id).toBe('r50');
});

test('a dot is a circle, a pinned run a square, around the middle of the bounds', () => {
  const x = linearScale([0, 10], [0, 100]);
  const y = linearScale([0, 10], [100, 0]);
  expect(dotPath({ ...point(5), low: 2, high: 4 }, x, y, 4)).toBe('M46 70a4 4 0 1 1 8 0a4 4 0 1 1 -8 0z');
  expect(dotPath({ ...point(5, { pinned: true }), low: 3, high: 3 }, x, y, 4)).toBe('M46 66h8v8h-8z');
});
