import { describe, expect, test } from '@jest/globals';
import { counterIncrease } from './increase.ts';

const samples = (...values: (number | null)[]) => values.map((value, i) => ({ timeMs: i * 1000, value }));

describe('counterIncrease', () => {
  test('is the last value less the first', () => {
    expect(counterIncrease(samples(5, 7, 12))).toEqual({ increase: 7, resets: 0, fromMs: 0, toMs: 2000 });
  });

  test('counts the new value fully after a reset (R-066)', () => {
    // 3 to the reset, then 2, then 4 - 2
    expect(counterIncrease(samples(5, 8, 2, 4))).toEqual({ increase: 7, resets: 1, fromMs: 0, toMs: 3000 });
  });

  test('goes over gaps', () => {
    expect(counterIncrease(samples(null, 5, null, NaN, 9, null))).toEqual({
      increase: 4,
      resets: 0,
      fromMs: 1000,
      toMs: 4000,
    });
  });

  test('counts the first value of a series that began at 0', () => {
    expect(counterIncrease(samples(null, 3, 5), { bornAtZero: true })?.increase).toBe(5);
    expect(counterIncrease(samples(null, 3), { bornAtZero: true })?.increase).toBe(3);
  });

  test('stays 0 when nothing happened', () => {
    expect(counterIncrease(samples(5, 5))?.increase).toBe(0);
  });

  test('is null, not 0, when nothing is known', () => {
    expect(counterIncrease([])).toBeNull();
    expect(counterIncrease(samples(5))).toBeNull();
    expect(counterIncrease(samples(null, NaN), { bornAtZero: true })).toBeNull();
  });
});
