import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fittedScale, linearScale, logScale, logTicks, ticksOf, valueTicks } from './scale.ts';

const RANGE = [0, 100] as const;

test('a linear scale there and back', () => {
  const scale = linearScale([0, 8], [100, 0]);
  expect([0, 2, 8].map(scale)).toEqual([100, 75, 0]);
  expect(scale.invert(75)).toBe(2);
});

test('equal ratios are equally far apart on a logarithmic scale, and what has no place is at its start', () => {
  const scale = logScale([0.1, 10], [0, 200]);
  expect([scale(1), scale(10), scale(0)].map(Math.round)).toEqual([100, 200, 0]);
  expect(scale.invert(100)).toBeCloseTo(1);
});

test('ticks are round values', () => {
  expect(valueTicks([0, 1.06], 5)).toEqual([0, 0.25, 0.5, 0.75, 1]);
  expect(valueTicks([0, 0.3], 3)).toEqual([0, 0.1, 0.2, 0.3]);
  expect(valueTicks([0, 23], 6)).toEqual([0, 5, 10, 15, 20]);
  expect(valueTicks([0, 0], 5)).toEqual([0]);
  expect(logTicks([0.1, 10], 10)).toEqual([0.1, 0.2, 0.5, 1, 2, 5, 10]);
  expect(logTicks([0.1, 10], 3)).toEqual([0.1, 1, 10]);
});

describe('a scale that fits values', () => {
  test.each([
    [9.3, 4, [0, 2.5, 5, 7.5, 10]],
    [0.0421, 4, [0, 0.02, 0.04, 0.06]],
    [617, 4, [0, 200, 400, 600, 800]],
    // All-zero data still has an axis.
    [0, 4, [0, 0.25, 0.5, 0.75, 1]],
  ] as const)('up to %d in about %i steps: %j', (high, wanted, ticks) => {
    const scale = fittedScale([high / 2, high], RANGE, wanted);
    expect(ticksOf(scale, wanted)).toEqual(ticks);
    expect(scale.domain).toEqual([0, ticks.at(-1)]);
  });

  test('is logarithmic over whole steps of 1, 2, 5 where the values are far apart', () => {
    const scale = fittedScale([0.03, 0, 0.4], RANGE, 9, 12);
    expect(ticksOf(scale, 9)).toEqual([0.02, 0.05, 0.1, 0.2, 0.5]);
    expect([scale(0.02), scale(0.1), scale(0.5)].map(Math.round)).toEqual([0, 50, 100]);
    expect(fittedScale([0.03, 0.4], RANGE, 9, 20).isLog).toBe(false);
    expect(ticksOf(fittedScale([0.001, 90], RANGE, 9, 12), 9)).toEqual([0.001, 0.01, 0.1, 1, 10, 100]);
  });

  test('contains every value', () => {
    const positive = fc.double({ min: 1e-9, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(positive, positive, fc.constantFrom(0.5, Infinity), (a, b, logFrom) => {
        const scale = fittedScale([a, b], RANGE, 4, logFrom);
        const [low, high] = scale.domain;
        expect(low).toBeLessThanOrEqual(Math.min(a, b) * (1 + 1e-9));
        expect(high).toBeGreaterThanOrEqual(Math.max(a, b) * (1 - 1e-9));
        expect(high).toBeGreaterThan(low);
        expect(ticksOf(scale, 4).length).toBeGreaterThan(0);
      }),
    );
  });
});
