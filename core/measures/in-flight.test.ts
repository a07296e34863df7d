import { expect, test } from '@jest/globals';
import { inFlightStatistics } from './in-flight.ts';

test('each number weighs as much as it lasted', () => {
  // 0 in [0, 10), 1 in [10, 20), 2 in [20, 40), 1 in [40, 60), 0 in [60, 100].
  const found = inFlightStatistics(Float64Array.of(20, 10), Float64Array.of(40, 60), 0, 100);
  expect(found).toMatchObject({ min: 0, max: 2 });
  expect(found?.mean).toBeCloseTo(0.7, 12);
  // 0.5 × 0.49 + 0.3 × 0.09 + 0.2 × 1.69 = 0.61.
  expect(found?.std).toBeCloseTo(Math.sqrt(0.61), 12);
  expect([0.4, 0.6, 0.79, 0.81].map((q) => found?.quantile(q))).toEqual([0, 1, 1, 2]);
});

test('what lies outside the window does not count', () => {
  const found = inFlightStatistics(Float64Array.of(0, 50), Float64Array.of(30, 200), 20, 70);
  // 1 in [20, 30), 0 in [30, 50), 1 in [50, 70].
  expect(found?.mean).toBeCloseTo(0.6, 12);
  expect(found).toMatchObject({ min: 0, max: 1 });
});

test('a request that is sent when another ends takes its place', () => {
  expect(inFlightStatistics(Float64Array.of(0, 10), Float64Array.of(10, 20), 0, 20)).toMatchObject({ min: 1, max: 1 });
});

test('a window that lasts no time has none', () => {
  expect(inFlightStatistics(Float64Array.of(1), Float64Array.of(2), 5, 5)).toBeNull();
});
