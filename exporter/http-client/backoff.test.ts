import { expect, test } from '@jest/globals';
import { Backoff } from './backoff.ts';

test('the wait doubles up to five seconds, with jitter, and is never shorter than Retry-After', () => {
  const least = new Backoff(() => 0);
  expect(Array.from({ length: 10 }, () => least.next(null))).toEqual([
    0.015, 0.03, 0.06, 0.12, 0.24, 0.48, 0.96, 1.92, 2.5, 2.5,
  ]);
  expect(least.next(7)).toBe(7);
  least.reset();
  expect(least.next(null)).toBe(0.015);
  expect(new Backoff(() => 0.5).next(null)).toBeCloseTo(0.0225, 12);
});
