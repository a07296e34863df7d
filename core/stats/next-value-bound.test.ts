import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { nextValueBound } from './next-value-bound.ts';

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
