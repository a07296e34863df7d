import { describe, expect, test } from '@jest/globals';
import { rankPrediction, tPrediction } from './prediction.ts';
import type { KnownInterval } from './shift.ts';

const exactly = (values: readonly number[]): KnownInterval[] => values.map((value) => [value, value]);
const NINETEEN = exactly(Array.from({ length: 19 }, (_, i) => i / 10));

describe('by ranks', () => {
  test('beyond all N, p is 1 ÷ (N + 1)', () => {
    const found = rankPrediction(NINETEEN, [2, 2]);
    expect(found.p.up).toBeCloseTo(1 / 20, 15);
    expect(found.p.down).toBe(1);
    expect(found.estimate[0]).toBeCloseTo(2 - 0.9, 12);
    expect(found.interval[0]).toBeCloseTo(0.2, 12);
    expect(found.interval[1]).toBeCloseTo(2, 12);
    expect(found.end).toBeCloseTo(0.05, 15);
  });

  test('a tie with the largest is not beyond it', () => {
    expect(rankPrediction(NINETEEN, [1.8, 1.8]).p.up).toBeCloseTo(2 / 20, 15);
  });

  test('an interval counts at its least supporting end', () => {
    expect(rankPrediction(NINETEEN, [1.7, 2.5]).p.up).toBeCloseTo(3 / 20, 15);
  });
});

describe("by Student's t", () => {
  test('reference values', () => {
    // By hand: mean 3, s = √2.5, error = s·√1.2 = 1.7321; t(0.9, 4) = 2.1318 (Fisher and Yates).
    const found = tPrediction(exactly([1, 2, 3, 4, 5]), [6.4641016, 6.4641016], 0.05);
    expect(found.estimate[0]).toBeCloseTo(3.4641016, 6);
    expect(found.interval[0]).toBeCloseTo(3.4641016 - 2.1318 * 1.7320508, 3);
    // scipy 1.17.1: stats.t.sf(2, 4)
    expect(found.p.up).toBeCloseTo(0.05805826175840778, 7);
  });

  test('equal values: any distance is beyond them', () => {
    const found = tPrediction(exactly([2, 2, 2, 2, 2]), [2.1, 2.1], 0.05);
    expect(found.p.up).toBe(0);
    expect(found.interval[0]).toBeCloseTo(0.1, 12);
    expect(tPrediction(exactly([2, 2, 2, 2, 2]), [2, 2], 0.05).p).toEqual({ up: 1, down: 1 });
  });

  test('no values within the intervals give a wider result', () => {
    const sample: KnownInterval[] = [
      [1, 1.5],
      [0.8, 2],
      [1.4, 1.6],
      [0.9, 1],
      [1.1, 1.9],
      [1, 1],
    ];
    const wide = tPrediction(sample, [3, 3.2], 0.05);
    for (let corner = 0; corner < 2 ** 6; corner++) {
      const ends = sample.map((known, i) => known[(corner >> i) & 1] ?? 0);
      const one = tPrediction(exactly(ends), [3, 3], 0.05);
      expect(one.interval[0]).toBeGreaterThanOrEqual(wide.interval[0] - 1e-12);
      expect(one.p.up).toBeLessThanOrEqual(wide.p.up + 1e-12);
    }
  });
});
