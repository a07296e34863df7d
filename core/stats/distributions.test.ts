import { expect, test, describe } from '@jest/globals';
import fc from 'fast-check';
import { normalCdf, normalQuantile, studentT, studentTTail, binomialTail, nextValueBound } from './distributions.ts';

// scipy 1.17.1: stats.norm.cdf(z)
test.each([
  [-8, 6.22096057427174e-16],
  [-3.5, 0.00023262907903552502],
  [-1, 0.15865525393145707],
  [0, 0.5],
  [0.5, 0.6914624612740131],
  [1.96, 0.9750021048517795],
  [6, 0.9999999990134123],
])('normalCdf(%p)', (z, expected) => {
  expect(Math.abs(normalCdf(z) / expected - 1)).toBeLessThan(z < -7 ? 1e-8 : 1e-12);
});

test('far out', () => expect([normalCdf(-40), normalCdf(40)]).toEqual([0, 1]));

// Python 3: statistics.NormalDist().inv_cdf(p)
test.each([
  [0.975, 1.9599639845400536],
  [0.995, 2.5758293035489],
  [0.01, -2.3263478740408408],
  [0.3, -0.5244005127080407],
  [0.5, 0],
])('normalQuantile(%p)', (p, expected) => {
  expect(Math.abs(normalQuantile(p) - expected)).toBeLessThanOrEqual(3e-9);
});

test.each([
  // Tables of the distribution (Fisher and Yates), two-sided.
  [0.95, 1, 12.7062],
  [0.95, 2, 4.3027],
  [0.95, 3, 3.1824],
  [0.95, 4, 2.7764],
  [0.95, 5, 2.5706],
  [0.95, 9, 2.2622],
  [0.95, 10, 2.2281],
  [0.95, 30, 2.0423],
  [0.95, 120, 1.9799],
  [0.99, 2, 9.9248],
  [0.99, 7, 3.4995],
  [0.5, 1, 1],
  [0.9, 6, 1.9432],
])('%d of the distribution with %d degrees of freedom lies within ±%d', (confidence, degrees, t) => {
  expect(studentT(confidence, degrees)).toBeCloseTo(t, 4);
});

test.each([
  [0, 3],
  [1, 3],
  [0.95, 0],
  [0.95, 2.5],
])('refuses %d, %d', (confidence, degrees) => expect(() => studentT(confidence, degrees)).toThrow(RangeError));

// scipy 1.17.1: stats.t.sf(t, degrees)
test.each([
  [2, 4, 0.05805826175840778],
  [-1.3, 7, 0.8826160823038114],
  [4.5, 18, 0.00013849969675349883],
  [0.1, 1, 0.4682744825694465],
])('P(T > %d) with %d degrees of freedom', (t, degrees, p) => expect(studentTTail(t, degrees)).toBeCloseTo(p, 12));

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

test('far from the mean only the further value itself can be so far: 1 of n + 1', () => {
  expect(nextValueBound(17, 100)).toBe(1 / 18);
  expect(nextValueBound(99, Infinity)).toBe(1 / 100);
});

test('near the mean it says nothing', () => {
  expect(nextValueBound(10, 0.5)).toBe(1);
  expect(nextValueBound(1, 100)).toBe(1);
  expect(nextValueBound(10, 0)).toBe(1);
});

test('of any n + 1 values no larger share lies so far from the mean of the others', () => {
  const values = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 3, maxLength: 30 });
  fc.assert(
    fc.property(values, fc.double({ min: 0.5, max: 8, noNaN: true }), (all, deviations) => {
      const far = all.filter((value, i) => {
        const others = all.filter((_, j) => j !== i);
        const mean = others.reduce((sum, each) => sum + each, 0) / others.length;
        const squares = others.reduce((sum, each) => sum + (each - mean) ** 2, 0);
        const deviation = Math.sqrt(squares / (others.length - 1));
        return deviation > 0 && Math.abs(value - mean) >= deviations * deviation * (1 + 1e-9);
      });
      expect(far.length / all.length).toBeLessThanOrEqual(nextValueBound(all.length - 1, deviations) + 1e-12);
    }),
  );
});
