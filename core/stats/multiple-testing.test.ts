import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { benjaminiHochberg, holm, holmLevels } from './multiple-testing.ts';

const P = [0.01, 0.04, 0.03, 0.005, 0.5];

test('reference values', () => {
  // statsmodels 0.15.0: multipletests(P, method='holm')
  expect(holm(P)).toEqual([0.04, 0.09, 0.09, 0.025, 0.5].map((p) => expect.closeTo(p, 12)));
  // scipy 1.17.1: stats.false_discovery_control(P)
  expect(benjaminiHochberg(P)).toEqual([0.025, 0.05, 0.05, 0.025, 0.5].map((p) => expect.closeTo(p, 12)));
});

test('nothing to adjust', () => {
  expect([holm([]), benjaminiHochberg([]), holmLevels([], 0.05)]).toEqual([[], [], []]);
  expect([holm([0.03]), benjaminiHochberg([0.03]), holmLevels([0.03], 0.05)]).toEqual([[0.03], [0.03], [0.05]]);
});

const ps = fc
  .array(fc.integer({ min: 0, max: 1000 }), { minLength: 1, maxLength: 8 })
  .map((many) => many.map((p) => p / 1000));

test('a p-value is within the level of its step exactly when its adjusted one is within alpha', () => {
  fc.assert(
    fc.property(ps, (some) => {
      const levels = holmLevels(some, 0.05);
      const adjusted = holm(some);
      some.forEach((p, i) => {
        const level = levels[i] ?? NaN;
        // Sums of thirds and fifths of 0.05 round; such ties are not the subject.
        if (Math.abs(p - level) > 1e-9) expect(p < level).toBe((adjusted[i] ?? NaN) <= 0.05);
      });
    }),
  );
});

test('adjusted values keep the order, are no smaller than they were, and at most 1', () => {
  fc.assert(
    fc.property(ps, (some) => {
      for (const adjust of [holm, benjaminiHochberg]) {
        const adjusted = adjust(some);
        some.forEach((p, i) => {
          expect(adjusted[i]).toBeGreaterThanOrEqual(p);
          expect(adjusted[i]).toBeLessThanOrEqual(1);
          some.forEach((other, j) => {
            if (p < other) expect(adjusted[i]).toBeLessThanOrEqual(adjusted[j] ?? NaN);
          });
        });
      }
    }),
  );
});
