import { expect, test, describe } from '@jest/globals';
import { seededRandom } from './seeded-random.ts';
import { orderedShifts, risingTrend } from './trend.ts';

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

const FIVE_EACH = [false, false, false, false, false, true, true, true, true, true];
const NOISE = [0.3, -0.9, 0.4, 1.1, -0.6, 0.2, -1.2, 0.8, -0.3, 0.5];
const one = (values: readonly number[], second: readonly boolean[]) => {
  const [found] = orderedShifts([values], second);
  if (found === undefined) throw new Error('no shift');
  return found;
};
const width = ([low, high]: readonly [number, number]): number => high - low;

describe('the shift between sets in the order of time', () => {
  test('an exact step is the shift, and an exact line has none', () => {
    const step = FIVE_EACH.map((is) => (is ? 3 : 1));
    expect(one(step, FIVE_EACH).interval(0.01)).toEqual([expect.closeTo(2, 9), expect.closeTo(2, 9)]);
    expect(one(step, FIVE_EACH).below(0)).toBe(0);
    // The line costs the prior of its slope; what is left of a shift is no more than the rest of the line.
    const line = FIVE_EACH.map((_, i) => i);
    expect(one(line, FIVE_EACH).below(0)).toBeGreaterThan(0.05);
  });

  test('adding to the second set moves the interval by it', () => {
    const moved = NOISE.map((value, i) => value + (FIVE_EACH[i] ? 7 : 0));
    const [low, high] = one(NOISE, FIVE_EACH).interval(0.01);
    expect(one(moved, FIVE_EACH).interval(0.01)).toEqual([expect.closeTo(low + 7, 6), expect.closeTo(high + 7, 6)]);
    expect(one(NOISE, FIVE_EACH).below(low)).toBeCloseTo(0.01, 6);
  });

  test('the unit does not matter, and mirrored values mirror it', () => {
    const [low, high] = one(NOISE, FIVE_EACH).interval(0.05);
    const [scaled, mirrored] = [1000, -1].map((factor) => NOISE.map((value) => factor * value));
    expect(one(scaled ?? [], FIVE_EACH).interval(0.05)).toEqual([
      expect.closeTo(1000 * low, 3),
      expect.closeTo(1000 * high, 3),
    ]);
    expect(one(mirrored ?? [], FIVE_EACH).interval(0.05)).toEqual([expect.closeTo(-high, 6), expect.closeTo(-low, 6)]);
  });

  test('what could be a trend makes sets that follow each other less certain, and interleaved ones hardly', () => {
    const turns = NOISE.map((_, i) => i % 2 === 1);
    // Without trend and dependence: Student's t, 99 % in 8 degrees of freedom is 3.355, of the pooled deviation 0.82.
    const plain = 2 * 3.355 * 0.82 * Math.sqrt(2 / 5);
    expect(width(one(NOISE, FIVE_EACH).interval(0.005))).toBeGreaterThan(1.5 * plain);
    expect(width(one(NOISE, turns).interval(0.005))).toBeLessThan(1.3 * plain);
  });

  test('values that depend on the one before are less certain evidence than the same in another order', () => {
    const random = seededRandom('dependent');
    const second = Array.from({ length: 40 }, (_, i) => i >= 20);
    let value = 0;
    const walk = second.map(() => (value += random() - 0.5));
    // The same values within each set, so that neighbors have nothing in common.
    const far = walk.map((_, i) => walk[20 * Math.floor(i / 20) + ((i * 7) % 20)] ?? NaN);
    expect(width(one(walk, second).interval(0.01))).toBeGreaterThan(width(one(far, second).interval(0.01)));
  });

  test('a series that is exact does not decide for the others', () => {
    const constant = FIVE_EACH.map(() => 1);
    const [alone] = orderedShifts([NOISE], FIVE_EACH);
    const [, beside] = orderedShifts([constant, NOISE], FIVE_EACH);
    expect(beside?.interval(0.01)).toEqual(alone?.interval(0.01));
  });
});
