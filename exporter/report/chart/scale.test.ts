import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { linearScale, logScale } from './scale.ts';

const RANGE = [0, 100] as const;

describe('linear', () => {
  test.each([
    [[0, 9.3], 4, [0, 5, 10]],
    [[0, 0.0421], 4, [0, 0.02, 0.04, 0.06]],
    [[0, 617], 4, [0, 200, 400, 600, 800]],
    // All-zero data still has an axis.
    [[0, 0], 4, [0, 0.5, 1]],
  ] as const)('%j in about %i steps: %j', (domain, wanted, ticks) => {
    expect(linearScale(domain, RANGE, wanted).ticks).toEqual(ticks);
  });

  test('positions', () => {
    const scale = linearScale([0, 8], [100, 0], 4);
    expect([0, 2, 8, 80].map(scale.at)).toEqual([100, 75, 0, 0]);
  });

  test('without rounding the domain keeps its end', () => {
    const scale = linearScale([0, 23], RANGE, 6, false);
    expect([scale.high, scale.at(23), scale.ticks]).toEqual([23, 100, [0, 5, 10, 15, 20]]);
  });
});

describe('logarithmic', () => {
  test('over whole steps of 1, 2, 5', () => {
    const scale = logScale([0.03, 0.4], RANGE);
    expect(scale.ticks).toEqual([0.02, 0.05, 0.1, 0.2, 0.5]);
    expect(scale.at(0.02)).toBeCloseTo(0, 9);
    expect(scale.at(0.1)).toBeCloseTo(50, 9);
    expect(scale.at(0.5)).toBeCloseTo(100, 9);
  });

  test('over a wide range only powers of ten are labeled', () => {
    expect(logScale([0.001, 90], RANGE).ticks).toEqual([0.001, 0.01, 0.1, 1, 10, 100]);
  });

  test('contains every value of its domain', () => {
    const positive = fc.double({ min: 1e-9, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(positive, positive, (a, b) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)];
        const scale = logScale([low, high], RANGE);
        expect(scale.low).toBeLessThanOrEqual(low * (1 + 1e-9));
        expect(scale.high).toBeGreaterThanOrEqual(high * (1 - 1e-9));
        expect(scale.high).toBeGreaterThan(scale.low);
        expect(scale.at(low)).toBeLessThanOrEqual(scale.at(high));
        expect(scale.ticks.length).toBeGreaterThan(0);
      }),
    );
  });
});
