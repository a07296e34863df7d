import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { rebucket } from './rebucket.ts';

describe('rebucket', () => {
  const fine = { bounds: [0.1, 0.2, 0.1 + 0.2, 1, Infinity], counts: [1, 2, 5, 6, 8], sum: 4 };

  test('keeps the counts of the bounds that remain', () => {
    expect(rebucket(fine, [0.2, 1, Infinity])).toEqual({ bounds: [0.2, 1, Infinity], counts: [2, 6, 8], sum: 4 });
  });

  test('knows a bound with rounding noise', () => {
    expect(rebucket(fine, [0.3, Infinity])).toEqual({ bounds: [0.3, Infinity], counts: [5, 8], sum: 4 });
  });

  test('puts the new bounds in order, once each', () => {
    expect(rebucket(fine, [Infinity, 1, 0.1, 1])).toEqual({ bounds: [0.1, 1, Infinity], counts: [1, 6, 8], sum: 4 });
  });

  test('refuses a bound that it does not have', () => {
    expect(rebucket(fine, [0.2, 0.5, Infinity])).toBeNull();
    expect(rebucket({ ...fine, bounds: [1, 2, 3, 4, 5] }, [1, Infinity])).toBeNull();
  });

  test('is what observing on the coarse grid gives', () => {
    const values = fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 30 });
    const grid = fc.uniqueArray(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(values, grid, fc.nat(), (observed, finite, bits) => {
        const count = (bound: number): number => observed.filter((value) => value <= bound).length;
        const bounds = [...finite.sort((a, b) => a - b), Infinity];
        const coarse = bounds.filter((bound, i) => bound === Infinity || (bits >> i) & 1);
        const h = { bounds, counts: bounds.map(count), sum: 1 };
        expect(rebucket(h, coarse)).toEqual({ bounds: coarse, counts: coarse.map(count), sum: 1 });
      }),
    );
  });
});
