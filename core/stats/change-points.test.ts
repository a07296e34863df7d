import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bestSplit, changePointsOf } from './change-points.ts';
import { seededRandom } from './seeded-random.ts';

const options = (seed = 'test', significance = 0.001) => ({ significance, fewest: 5, random: seededRandom(seed) });
/** Values around a level, spread evenly over ±1, in a shuffled order. */
function level(center: number, n: number, seed: string): number[] {
  const random = seededRandom(seed);
  return Array.from({ length: n }, () => center + 2 * random() - 1);
}

test('one clear step is found where it is', () => {
  const found = changePointsOf([...level(0, 20, 'a'), ...level(10, 20, 'b')], options());
  expect(found).toEqual([{ index: 20, p: 0.001 }]);
});

test('several steps, also back to the old level', () => {
  const series = [...level(0, 20, 'a'), ...level(5, 15, 'b'), ...level(0, 25, 'c')];
  expect(changePointsOf(series, options()).map(({ index }) => index)).toEqual([20, 35]);
});

test('no change, equal values, and too few values', () => {
  expect(changePointsOf(level(0, 60, 'a'), options())).toEqual([]);
  expect(changePointsOf(new Array<number>(40).fill(3), options())).toEqual([]);
  expect(changePointsOf([0, 0, 0, 0, 9, 9, 9, 9], options())).toEqual([]);
  expect(changePointsOf([], options())).toEqual([]);
});

test('the best split is that of the definition, counted pair by pair', () => {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const pairs = (a: readonly number[], b: readonly number[]): number[] =>
    a.flatMap((x) => b.map((y) => Math.abs(x - y)));
  const within = (a: readonly number[]): number => (mean(pairs(a, a)) * a.length) / (a.length - 1);
  const statistic = (a: readonly number[], b: readonly number[]): number =>
    ((a.length * b.length) / (a.length + b.length)) * (2 * mean(pairs(a, b)) - within(a) - within(b));
  const values = fc.array(fc.integer({ min: -30, max: 30 }), { minLength: 6, maxLength: 20 });
  fc.assert(
    fc.property(values, (series) => {
      const ends = [8, 7, 6, 5, 4, 3, 2].map((eighths) => Math.round((series.length * eighths) / 8));
      const scores = ends.flatMap((end) =>
        series
          .slice(0, end)
          .map((_, m) => (m < 3 || end - m < 3 ? -Infinity : statistic(series.slice(0, m), series.slice(m, end)))),
      );
      expect(bestSplit(series, 3)?.value).toBeCloseTo(Math.max(...scores), 9);
    }),
  );
});

test('a long history: changes in every part of it, one of them short', () => {
  const series = [...level(0, 300, 'a'), ...level(3, 12, 'b'), ...level(0, 400, 'c'), ...level(-2, 288, 'd')];
  const found = changePointsOf(series, options()).map(({ index }) => index);
  expect(found).toHaveLength(3);
  [300, 312, 712].forEach((index, i) => expect(Math.abs((found[i] ?? NaN) - index)).toBeLessThanOrEqual(2));
});

describe('independent values', () => {
  test('are split as rarely as the significance says', () => {
    const tries = 400;
    let split = 0;
    for (let i = 0; i < tries; i++)
      if (changePointsOf(level(0, 30, `s${i}`), options(`${i}`, 0.05)).length > 0) split++;
    // 0.05 and three standard errors.
    expect(split / tries).toBeLessThan(0.05 + 3 * Math.sqrt((0.05 * 0.95) / tries));
    expect(split / tries).toBeGreaterThan(0.01);
  });
});

test('the same seed gives the same result, and neither scale nor level of the series matters', () => {
  const series = [...level(0, 20, 'a'), ...level(1.2, 20, 'b')];
  const found = changePointsOf(series, options('s'));
  expect(changePointsOf(series, options('s'))).toEqual(found);
  expect(
    changePointsOf(
      series.map((value) => 64 * value + 512),
      options('s'),
    ).map(({ index }) => index),
  ).toEqual(found.map(({ index }) => index));
});
