import { describe, expect, test } from '@jest/globals';
import { rankSumNull, signedRankNull } from './rank-null.ts';

describe('the exact distributions', () => {
  // Wilcoxon's table of critical values, two-sided 0.05 and 0.01: the largest T that rejects, one less than `critical`.
  test.each([
    [6, 0, -1],
    [7, 2, -1],
    [8, 3, 0],
    [10, 8, 3],
    [15, 25, 15],
    [20, 52, 37],
    [25, 89, 68],
  ])('signed rank, n = %d', (n, five, one) => {
    expect(signedRankNull(n).critical(0.025)).toBe(five + 1);
    expect(signedRankNull(n).critical(0.005)).toBe(one + 1);
    expect(signedRankNull(n).exact).toBe(true);
  });

  // Mann and Whitney's table of critical values, two-sided 0.05 and 0.01.
  test.each([
    [4, 4, 0, -1],
    [5, 5, 2, 0],
    [6, 8, 8, 4],
    [10, 10, 23, 16],
    [20, 20, 127, 105],
    [3, 20, 8, 3],
  ])('rank sum, %d and %d', (m, n, five, one) => {
    for (const none of [rankSumNull(m, n), rankSumNull(n, m)]) {
      expect(none.critical(0.025)).toBe(five + 1);
      expect(none.critical(0.005)).toBe(one + 1);
      expect(none.exact).toBe(true);
    }
  });

  test('the most extreme values are one arrangement of all', () => {
    expect(signedRankNull(10).tail(55)).toBeCloseTo(1 / 1024, 15);
    expect(rankSumNull(3, 20).tail(60)).toBeCloseTo(1 / 1771, 15);
    // C(1003, 3)
    expect(rankSumNull(3, 1000).tail(3000) * 167_668_501).toBeCloseTo(1, 12);
  });

  test('tails of a small sample, counted by hand', () => {
    // Subsets of {1, 2, 3} by sum: 0, 1, 2, 3, 3, 4, 5, 6.
    expect([0, 1, 2, 3, 4, 5, 6, 7].map((t) => 8 * signedRankNull(3).tail(t))).toEqual([8, 7, 6, 5, 3, 2, 1, 0]);
    // Of 2 and 2: U = 0, 1, 2, 2, 3, 4.
    expect([0, 1, 2, 3, 4, 5].map((u) => 6 * rankSumNull(2, 2).tail(u))).toEqual(
      [6, 5, 4, 2, 1, 0].map((x) => expect.closeTo(x, 12)),
    );
  });
});

describe('the normal approximation of large samples', () => {
  test('joins the exact distribution', () => {
    const exact = signedRankNull(53);
    const approximate = signedRankNull(54);
    expect([exact.exact, approximate.exact]).toEqual([true, false]);
    expect(approximate.critical(0.025) / approximate.largest).toBeCloseTo(exact.critical(0.025) / exact.largest, 2);
    const sets = rankSumNull(28, 28);
    const more = rankSumNull(29, 29);
    expect([sets.exact, more.exact]).toEqual([true, false]);
    expect(more.critical(0.025) / more.largest).toBeCloseTo(sets.critical(0.025) / sets.largest, 2);
  });

  test('critical and tail agree', () => {
    for (const none of [signedRankNull(80), rankSumNull(40, 60)]) {
      for (const p of [0.05, 0.01, 0.001]) {
        const k = none.critical(p);
        expect(none.tail(none.largest - (k - 1))).toBeLessThanOrEqual(p * (1 + 1e-6));
        expect(none.tail(none.largest - k)).toBeGreaterThan(p);
      }
    }
  });
});
