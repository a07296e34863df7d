import { expect, test } from '@jest/globals';
import { seededRandom } from './seeded-random.ts';
import { risingTrend } from './trend.ts';

test('a series that always rises: S = 10, variance 5 × 4 × 15 ÷ 18, z = 9 ÷ 4.082', () => {
  const { slope, p } = risingTrend([1, 2, 3, 4, 5]);
  expect(slope).toBe(1);
  // P(Z ≥ 2.2045), from a table of the normal distribution.
  expect(p).toBeCloseTo(0.01374, 5);
});

test('ties count neither way and make the variance smaller: S = 2, variance (66 − 18) ÷ 18, z = 1 ÷ 1.633', () => {
  const { slope, p } = risingTrend([1, 1, 2]);
  // Slopes 0, 0.5 and 1.
  expect(slope).toBe(0.5);
  expect(p).toBeCloseTo(0.27014, 4);
});

test('one outlier does not change the slope', () => {
  expect(risingTrend([1, 2, 300, 4, 5, 6, 7]).slope).toBe(1);
});

test('a falling or constant series, and one too short, do not rise', () => {
  expect(risingTrend([3, 2, 1]).p).toBeGreaterThan(0.5);
  expect(risingTrend([2, 2, 2, 2])).toEqual({ slope: 0, p: 0.5 });
  expect(risingTrend([2])).toEqual({ slope: 0, p: 1 });
});

test('noise is reported as a rise as often as the level says', () => {
  const random = seededRandom('noise');
  const series = Array.from({ length: 2000 }, () => risingTrend(Array.from({ length: 12 }, random)));
  const share = series.filter(({ p }) => p <= 0.05).length / series.length;
  // 0.05 of 2,000 with a standard deviation of 0.005; the test is discrete and a little conservative.
  expect(share).toBeGreaterThan(0.03);
  expect(share).toBeLessThan(0.065);
});
