import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sfc32 } from './seeded-random.ts';
import {
  pairedShift,
  unpairedShift,
  rankSumNull,
  signedRankNull,
  fewestPairs,
  fewestRunsAgainst,
  fewestRunsPerSet,
  type KnownInterval,
  type Shift,
} from './shift.ts';

const exactly = (values: readonly number[]): KnownInterval[] => values.map((value) => [value, value]);
const D = [0.8, -0.3, 1.2, 0.45, 2.1, -0.15, 0.95];
const X = [5.1, 4.7, 6.2, 5.5, 4.9, 5.8];
const Y = [6.0, 5.3, 6.8, 7.1, 5.6, 6.5, 7.4];

describe('reference values', () => {
  test('pairs', () => {
    const shift = pairedShift(exactly(D));
    // scipy 1.17.1: stats.wilcoxon(D, method='exact'), and with alternative='greater'
    expect(shift.p.twoSided).toBeCloseTo(0.078125, 12);
    expect(shift.p.up).toBeCloseTo(0.0390625, 12);
    // numpy: median of the 28 Walsh averages; the critical value for n = 7 and 0.05 is 2 (Wilcoxon's table), so the ends
    // are the third smallest and the third largest average.
    expect(shift.estimate[0]).toBeCloseTo(0.75, 12);
    expect(shift.interval(0.05)[0]).toBeCloseTo(-0.15, 12);
    expect(shift.interval(0.05)[1]).toBeCloseTo(1.525, 12);
  });

  test('unpaired', () => {
    const shift = unpairedShift(exactly(X), exactly(Y));
    // scipy 1.17.1: stats.mannwhitneyu(Y, X, method='exact'), and with alternative='greater'
    expect(shift.p.twoSided).toBeCloseTo(0.03496503496503496, 12);
    expect(shift.p.up).toBeCloseTo(0.01748251748251748, 12);
    // numpy: median of the 42 differences; the critical U for 6, 7 and 0.05 is 6 (Mann and Whitney's table).
    expect(shift.estimate[0]).toBeCloseTo(1, 12);
    expect(shift.interval(0.05)[0]).toBeCloseTo(0.1, 12);
    expect(shift.interval(0.05)[1]).toBeCloseTo(2, 12);
  });
});

test('ties and zeros count against a decision', () => {
  // Of six pairs one is equal: five in the same direction cannot decide, although a test that drops zeros would.
  expect(pairedShift(exactly([1, 1, 1, 1, 1, 0])).p.twoSided).toBeGreaterThan(0.05);
  expect(pairedShift(exactly([1, 1, 1, 1, 1, 1])).p.twoSided).toBeCloseTo(2 / 64, 12);
  expect(unpairedShift(exactly([1, 1, 1, 1]), exactly([1, 1, 1, 1]))).toMatchObject({
    estimate: [0, 0],
    p: { up: 1, down: 1, twoSided: 1 },
  });
});

test('too few values leave the interval open', () => {
  expect(pairedShift(exactly([1, 2, 3, 4, 5])).interval(0.05)).toEqual([-Infinity, Infinity]);
  expect(unpairedShift(exactly([1, 2, 3]), exactly([11, 12, 13])).interval(0.05)).toEqual([-Infinity, Infinity]);
});

test('what is infinite on both sides is not known, on one side it is beyond all', () => {
  const infinite = exactly([Infinity, Infinity, Infinity, Infinity]);
  expect(unpairedShift(infinite, infinite).estimate).toEqual([-Infinity, Infinity]);
  expect(unpairedShift(infinite, infinite).p.twoSided).toBe(1);
  const beyond = unpairedShift(exactly([1, 2, 3, 4]), infinite);
  expect(beyond.estimate).toEqual([Infinity, Infinity]);
  expect(beyond.p.twoSided).toBeCloseTo(2 / 70, 12);
});

const values = fc.array(fc.integer({ min: -8, max: 8 }), { minLength: 1, maxLength: 9 });
const both: readonly (readonly [string, (a: readonly KnownInterval[], b: readonly KnownInterval[]) => Shift])[] = [
  [
    'pairs',
    (a, b) => pairedShift(a.slice(0, b.length).map(([low], i) => [(b[i]?.[0] ?? 0) - low, (b[i]?.[0] ?? 0) - low])),
  ],
  ['unpaired', unpairedShift],
];

describe.each(both)('%s', (_, shiftOf) => {
  test('swapping the sides mirrors everything', () => {
    fc.assert(
      fc.property(values, values, (x, y) => {
        const n = Math.min(x.length, y.length);
        const [a, b] = [exactly(x.slice(0, n)), exactly(y.slice(0, n))];
        const there = shiftOf(a, b);
        const back = shiftOf(b, a);
        expect(back.p.up).toBeCloseTo(there.p.down, 12);
        expect(back.p.twoSided).toBeCloseTo(there.p.twoSided, 12);
        expect(back.estimate[0] + there.estimate[1]).toBeCloseTo(0, 12);
        const [low, high] = there.interval(0.2);
        const [otherLow, otherHigh] = back.interval(0.2);
        expect(otherLow).toBeCloseTo(-high, 12);
        expect(otherHigh).toBeCloseTo(-low, 12);
      }),
    );
  });

  test('the interval excludes 0 exactly when the test rejects, ties included', () => {
    fc.assert(
      fc.property(values, values, fc.constantFrom(0.3, 0.1, 0.05, 0.01), (x, y, alpha) => {
        const n = Math.min(x.length, y.length);
        const shift = shiftOf(exactly(x.slice(0, n)), exactly(y.slice(0, n)));
        const [low, high] = shift.interval(alpha);
        expect(low > 0 || high < 0).toBe(shift.p.twoSided <= alpha * (1 + 1e-9));
      }),
    );
  });

  test('the interval grows with the confidence and holds the estimate', () => {
    fc.assert(
      fc.property(values, values, (x, y) => {
        const n = Math.min(x.length, y.length);
        const shift = shiftOf(exactly(x.slice(0, n)), exactly(y.slice(0, n)));
        const [wideLow, wideHigh] = shift.interval(0.01);
        const [low, high] = shift.interval(0.2);
        expect(wideLow).toBeLessThanOrEqual(low);
        expect(wideHigh).toBeGreaterThanOrEqual(high);
        expect(low).toBeLessThanOrEqual(shift.estimate[0]);
        expect(high).toBeGreaterThanOrEqual(shift.estimate[1]);
      }),
    );
  });

  test('a constant added to one side moves estimate and interval by it', () => {
    fc.assert(
      fc.property(values, values, fc.integer({ min: -50, max: 50 }), (x, y, constant) => {
        const n = Math.min(x.length, y.length);
        const [a, b] = [x.slice(0, n), y.slice(0, n)];
        const before = shiftOf(exactly(a), exactly(b));
        const after = shiftOf(exactly(a), exactly(b.map((value) => value + constant)));
        expect(after.estimate[0]).toBeCloseTo(before.estimate[0] + constant, 9);
        expect(after.interval(0.2)[0]).toBeCloseTo(before.interval(0.2)[0] + constant, 9);
      }),
    );
  });

  test('the interval holds the true shift as often as it says, up to 3 standard errors', () => {
    const random = sfc32(11);
    const draw = (): number => Math.log((random() + 0.5) / 2 ** 32) ** 2;
    const tries = 3000;
    let held = 0;
    for (let i = 0; i < tries; i++) {
      const a = Array.from({ length: 7 }, draw);
      const b = Array.from({ length: 7 }, () => draw() + 0.3);
      const [low, high] = shiftOf(exactly(a), exactly(b)).interval(0.05);
      if (low <= 0.3 && 0.3 <= high) held++;
    }
    // At least nominal, and discrete tests of this size do not exceed it by more than 3 %.
    expect(held / tries).toBeGreaterThan(0.95 - 3 * Math.sqrt((0.95 * 0.05) / tries));
    expect(held / tries).toBeLessThan(0.98 + 3 * Math.sqrt((0.95 * 0.05) / tries));
  });
});

test('every corner of values known as intervals lies within the result', () => {
  const known = fc.array(fc.tuple(fc.integer({ min: -9, max: 9 }), fc.integer({ min: 0, max: 6 })), {
    minLength: 4,
    maxLength: 6,
  });
  fc.assert(
    fc.property(known, known, fc.integer(), (a, b, pick) => {
      const wide = (side: readonly (readonly [number, number])[]): KnownInterval[] =>
        side.map(([low, width]) => [low, low + width]);
      const all = unpairedShift(wide(a), wide(b));
      const random = sfc32(pick);
      const corner = (side: readonly KnownInterval[]): KnownInterval[] =>
        exactly(side.map((ends) => ends[random() & 1] ?? 0));
      const one = unpairedShift(corner(wide(a)), corner(wide(b)));
      expect(one.estimate[0]).toBeGreaterThanOrEqual(all.estimate[0]);
      expect(one.estimate[1]).toBeLessThanOrEqual(all.estimate[1]);
      expect(one.interval(0.1)[0]).toBeGreaterThanOrEqual(all.interval(0.1)[0]);
      expect(one.interval(0.1)[1]).toBeLessThanOrEqual(all.interval(0.1)[1]);
      expect(one.p.up).toBeLessThanOrEqual(all.p.up + 1e-12);
      expect(one.p.down).toBeLessThanOrEqual(all.p.down + 1e-12);
    }),
  );
});

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

// 2 ÷ 2^n pairs, 2 ÷ C(2n, n) runs of each set: the two extreme arrangements of all.
test.each([
  [1, 6, 4],
  [3, 7, 5],
  [5, 8, 5],
])('%d gating measures at 0.05: %d pairs, or %d runs of each set', (measures, pairs, runs) => {
  expect(fewestPairs(measures, 0.05)).toBe(pairs);
  expect(fewestRunsPerSet(measures, 0.05)).toBe(runs);
});

test('against a baseline of 20, two runs confirm for five measures: three with the one that raised the suspicion', () => {
  // 2 ÷ C(22, 2) = 0.0087, and 2 ÷ C(21, 1) = 0.095
  expect(fewestRunsAgainst(20, 5, 0.05)).toBe(2);
  // 2 ÷ C(9, 4) = 0.016 and 2 ÷ C(10, 5) = 0.0079
  expect(fewestRunsAgainst(5, 5, 0.05)).toBe(5);
});

test('no number of runs can be distinguished from a single one', () => {
  expect(fewestRunsAgainst(1, 100, 0.05)).toBeNull();
});
