import { describe, expect, test } from '@jest/globals';
import { dependentMean, meanBesideDays } from './dependence.ts';
import { seededRandom } from './seeded-random.ts';

const width = ([low, high]: readonly [number, number]): number => high - low;
/** Of alternating values no dependence is likely. */
const ALTERNATING = Array.from({ length: 36 }, (_, i) => (i % 2 === 0 ? 0 : 2));

describe('the mean of values that may depend on the one before', () => {
  test('of values that alternate is that of independent ones', () => {
    // The standard deviation is √(36 ÷ 35), the standard error √(1 ÷ 35), and Student's t with 35 degrees of freedom 2.030.
    const [low, high] = dependentMean(ALTERNATING).interval(0.025);
    expect(low).toBeCloseTo(1 - 2.03 / Math.sqrt(35), 3);
    expect(high).toBeCloseTo(1 + 2.03 / Math.sqrt(35), 3);
  });

  test('of two values is less certain than if they were independent, as nothing excludes a dependence', () => {
    // Independent: 1 ± 12.706 (Student, one degree of freedom).
    const [low, high] = dependentMean([0, 2]).interval(0.025);
    expect((low + high) / 2).toBeCloseTo(1, 6);
    expect(high - 1).toBeGreaterThan(2 * 12.7);
  });

  test('is less certain when they follow each other', () => {
    const scattered = [1, 5, 2, 6, 3, 4, 1, 6, 2, 5, 3, 4];
    const risen = scattered.toSorted((a, b) => a - b);
    expect(width(dependentMean(risen).interval(0.025))).toBeGreaterThan(
      1.5 * width(dependentMean(scattered).interval(0.025)),
    );
  });

  test('does not depend on the unit or the sign', () => {
    const values = [3, 1, 4, 1, 5, 9, 2, 6];
    const [low, high] = dependentMean(values).interval(0.01);
    const [scaledLow, scaledHigh] = dependentMean(values.map((value) => -1000 * value)).interval(0.01);
    expect([scaledLow, scaledHigh]).toEqual([expect.closeTo(-1000 * high, 6), expect.closeTo(-1000 * low, 6)]);
    expect(dependentMean(values).chance).toBe(dependentMean(values.map((value) => -value)).chance);
  });

  test('of equal values is exact', () => {
    expect(dependentMean([2, 2, 2]).interval(0.01)).toEqual([2, 2]);
    expect(dependentMean([2, 2, 2]).chance).toBe(0);
    expect(dependentMean([0, 0]).chance).toBe(0.5);
  });

  test.each([0, 0.5, 0.8, 0.9])('excludes the truth rarely if the dependence is %d', (rho) => {
    const random = seededRandom(`dependent ${rho}`);
    // Uniform instead of normal: the variance is 1.
    const noise = (): number => Math.sqrt(12) * (random() - 0.5);
    let wrong = 0;
    for (let i = 0; i < 2000; i++) {
      let level = noise();
      const values = Array.from({ length: 12 }, () => (level = rho * level + Math.sqrt(1 - rho ** 2) * noise()));
      if (dependentMean(values).chance < 0.01) wrong++;
    }
    // Of each side 1 of 100.
    expect(wrong / 2000).toBeLessThan(0.045);
  });

  test('joins neighbors of long series', () => {
    const long = Array.from({ length: 72 }, (_, i) => Math.sin(i));
    const halves = Array.from({ length: 36 }, (_, i) => ((long[2 * i] ?? NaN) + (long[2 * i + 1] ?? NaN)) / 2);
    expect(dependentMean(long).interval(0.01)).toEqual(dependentMean(halves).interval(0.01));
  });
});

describe('the mean of differences beside days without a change', () => {
  const days = [1, 2, 3, 4, 5].map((level) => [level, level, level]);

  test('has twice the variance of the days: 1 ± 2.776 × √(2 × 2.5)', () => {
    const [low, high] = meanBesideDays([1, 1, 1], days).interval(0.025);
    expect(low).toBeCloseTo(1 - 2.776 * Math.sqrt(5), 2);
    expect(high).toBeCloseTo(1 + 2.776 * Math.sqrt(5), 2);
  });

  test('is a chance of Student, on the side of the mean', () => {
    // t = 4.743 ÷ √5 = 2.132, of which a table says 0.05 with four degrees of freedom.
    expect(meanBesideDays([4.767], days).chance).toBeCloseTo(0.05, 3);
    expect(meanBesideDays([-4.767], days).chance).toBeCloseTo(0.05, 3);
  });

  test('counts a single slice little', () => {
    const disturbed = days.map((day, i) => (i === 2 ? [3, 3, 3, 3, 100] : day));
    expect(meanBesideDays([1, 1, 1, 1, 50], disturbed)).toMatchObject({ chance: meanBesideDays([1], days).chance });
  });
});
