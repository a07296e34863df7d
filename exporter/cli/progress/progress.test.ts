import { expect, test } from '@jest/globals';
import { RecentValues } from './progress.ts';

const S = 1e9;

test('percentiles are of the last seconds, the one under way included', () => {
  const recent = new RecentValues(10);
  recent.add(0.5 * S, 100);
  for (const value of [1, 2, 3]) recent.add(5.2 * S, value);
  recent.add(6.9 * S, 4);
  expect(recent.count(6.95 * S, 2)).toBe(4);
  expect(recent.quantile(6.95 * S, 2, 0.5)).toBe(2.5);
  expect(recent.quantile(6.95 * S, 1, 0.99)).toBe(4);
  expect(recent.quantile(20 * S, 2, 0.5)).toBeNull();
});

test('medians by second, the oldest first, null where there is nothing', () => {
  const recent = new RecentValues(4);
  for (const value of [1, 3]) recent.add(1.1 * S, value);
  recent.add(3.1 * S, 7);
  expect(recent.medians(3.5 * S, 4)).toEqual([null, 2, null, 7]);
});

test('values older than the window are dropped', () => {
  const recent = new RecentValues(3);
  recent.add(0, 1);
  recent.add(3 * S, 2);
  expect(recent.medians(3 * S, 4)).toEqual([null, null, null, 2]);
});

test('a second with many values keeps its count and values of all of it', () => {
  const recent = new RecentValues(3);
  for (let i = 0; i < 20_000; i++) recent.add(S, i);
  expect(recent.count(S, 1)).toBe(20_000);
  // A median of 1,024 values chosen by chance of 0 … 19,999: within 5 standard deviations (1,560) of 10,000.
  const median = recent.quantile(S, 1, 0.5) ?? NaN;
  expect(Math.abs(median - 10_000)).toBeLessThan(1_600);
});
