import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sfc32 } from './seeded-random.ts';
import { pairedShift, unpairedShift, type KnownInterval, type Shift } from './shift.ts';

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
