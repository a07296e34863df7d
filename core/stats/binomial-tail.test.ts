import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { binomialTail } from './binomial-tail.ts';

describe('the upper tail of a binomial distribution', () => {
  test.each([
    // Three coins: HHH is one of eight outcomes, two or more heads are four.
    [3, 0.5, 3, 1 / 8],
    [3, 0.5, 2, 4 / 8],
    [4, 0.25, 1, 1 - 0.75 ** 4],
    [2, 0.05, 2, 0.0025],
    // 0.01 ** 500 is below the smallest double.
    [500, 0.99, 0, 1],
    [500, 0.99, 500, 0.99 ** 500],
  ])('of %d trials with p = %d at least %d', (n, p, k, expected) => {
    expect(binomialTail(n, p, k)).toBeCloseTo(expected, 12);
  });

  test('nothing is certain below 0 and impossible above n', () => {
    expect(binomialTail(5, 0.3, -1)).toBe(1);
    expect(binomialTail(5, 0.3, 6)).toBe(0);
    expect(binomialTail(5, 0, 1)).toBe(0);
    expect(binomialTail(5, 1, 5)).toBe(1);
  });

  test('the successes of one side are the failures of the other', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), fc.double({ min: 0.01, max: 0.99, noNaN: true }), (n, p) => {
        const k = Math.floor(n / 2) + 1;
        expect(binomialTail(n, p, k) + binomialTail(n, 1 - p, n - k + 1)).toBeCloseTo(1, 9);
      }),
    );
  });
});
