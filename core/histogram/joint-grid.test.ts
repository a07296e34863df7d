import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { classicHistogram, histogramDelta, onJointGrid } from './classic-histogram.ts';

test('bounds of empty buckets are kept, those inside a bucket with observations are not', () => {
  const fine = classicHistogram(
    [
      ['0.5', 1],
      ['1', 3],
      ['2', 3],
      ['+Inf', 4],
    ],
    9,
  );
  const coarse = classicHistogram(
    [
      ['1', 5],
      ['4', 5],
      ['8', 6],
      ['+Inf', 6],
    ],
    20,
  );
  // 0.5 would divide the bucket up to 1 of the second, whose observations may lie on both sides; 4 and 8 that above 2 of the first.
  expect(onJointGrid([fine, coarse])).toEqual([
    { bounds: [1, 2, Infinity], counts: [3, 3, 4], sum: 9 },
    { bounds: [1, 2, Infinity], counts: [5, 5, 6], sum: 20 },
  ]);
});

test('equal grids stay as they are', () => {
  const histogram = classicHistogram(
    [
      ['0.5', 1],
      ['1', 3],
      ['+Inf', 4],
    ],
    3,
  );
  expect(onJointGrid([histogram, histogram])).toEqual([histogram, histogram]);
  expect(onJointGrid([])).toEqual([]);
});

test('the counts at each common bound are those of the observations, whatever the grids', () => {
  const values = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 20 });
  const grids = fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 });
  const below = (observed: readonly number[], bound: number): number =>
    observed.filter((value) => value <= bound).length;
  fc.assert(
    fc.property(values, grids, values, grids, (x, gridX, y, gridY) => {
      const made = (observed: readonly number[], grid: readonly number[]) =>
        classicHistogram(
          [...grid.map((le): [string, number] => [String(le), below(observed, le)]), ['+Inf', observed.length]],
          0,
        );
      const [a, b] = onJointGrid([made(x, gridX), made([...x, ...y], gridY)]);
      a?.counts.forEach((count, i) => expect(count).toBe(below(x, a.bounds[i] ?? NaN)));
      b?.counts.forEach((count, i) => expect(count).toBe(below([...x, ...y], b.bounds[i] ?? NaN)));
      expect(a && b && histogramDelta(a, b)).toMatchObject({ reset: false });
    }),
  );
});
