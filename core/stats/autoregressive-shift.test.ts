import { expect, test } from '@jest/globals';
import { autoregressiveShift, shiftUnder } from './autoregressive-shift.ts';

test('independent values: the difference of the means', () => {
  // Means 2 and 5.5; squares around them 2 and 0.5; the variance has 5 − 3 degrees of freedom.
  const { estimate, standardError, degrees } = shiftUnder(0, [1, 2, 3], [5, 6]);
  expect([estimate, degrees]).toEqual([3.5, 2]);
  expect(standardError).toBeCloseTo(Math.sqrt((2.5 / 2) * (1 / 3 + 1 / 2)), 12);
});

test('dependent values: generalized least squares with the covariance ρ^|i − j|', () => {
  const rho = 0.5;
  const [before, after] = [
    [1, 1.5, 0.5],
    [2, 3],
  ];
  const y = [...before, ...after];
  // The inverse of that covariance, but for the factor 1 − ρ², is tridiagonal: 1 + ρ² inside, 1 at the ends, −ρ beside.
  const inverse = (x: readonly number[], z: readonly number[]): number =>
    x.reduce((sum, value, i) => {
      const own = i === 0 || i === x.length - 1 ? 1 : 1 + rho ** 2;
      return sum + value * (own * (z[i] ?? 0) - rho * ((z[i - 1] ?? 0) + (z[i + 1] ?? 0)));
    }, 0);
  const [ones, moved] = [y.map(() => 1), y.map((_, i) => (i < 3 ? 0 : 1))];
  const [a, b, c] = [inverse(ones, ones), inverse(ones, moved), inverse(moved, moved)];
  const [p, q] = [inverse(ones, y), inverse(moved, y)];
  const [level, shift] = [(c * p - b * q) / (a * c - b * b), (a * q - b * p) / (a * c - b * b)];
  const residuals = y.map((value, i) => value - level - shift * (moved[i] ?? 0));
  const found = shiftUnder(rho, before, after);
  expect(found.estimate).toBeCloseTo(shift, 12);
  expect(found.standardError).toBeCloseTo(Math.sqrt(((inverse(residuals, residuals) / 2) * a) / (a * c - b * b)), 12);
});

test('a jump is more certain, and a slow drift less, than among independent values', () => {
  const drifting = [0, 0.4, 0.9, 1, 0.7, 0.2, -0.3, -0.7, -1, -0.8, -0.4, 0.1, 0.5, 0.8, 0.6, 0.3];
  const certainty = ({ estimate, standardError }: { estimate: number; standardError: number }): number =>
    estimate / standardError;
  const jump = autoregressiveShift(drifting, [2.3, 2.2, 2.1]);
  const drift = autoregressiveShift([...drifting, 0.6, 0.9], [1.2, 1.3, 1.2]);
  expect(certainty(jump ?? { estimate: 0, standardError: 1 })).toBeGreaterThan(
    certainty(shiftUnder(0, drifting, [2.3, 2.2, 2.1])),
  );
  expect(certainty(drift ?? { estimate: 9, standardError: 1 })).toBeLessThan(
    certainty(shiftUnder(0, [...drifting, 0.6, 0.9], [1.2, 1.3, 1.2])),
  );
});

test('equal values do not depend on each other', () => {
  expect(autoregressiveShift([1, 1, 1, 1], [2])).toBeNull();
});
