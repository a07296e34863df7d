import { describe, expect, test } from '@jest/globals';
import { boundsAround, limitAdvice } from './bucket-advice.ts';

const histogram = { bounds: [0.25, 0.5, 1, Infinity], counts: [60, 90, 98, 100], sum: null };

describe('a limit', () => {
  test('that is a bound has a counted share', () => {
    const advice = limitAdvice(0.5, histogram);
    expect(advice).toMatchObject({ isBound: true, bucket: { low: 0.25, high: 0.5 } });
    expect(advice?.within).toMatchObject({ low: 0.9, high: 0.9 });
  });

  test('inside a bucket has a share between those of its ends; Prometheus interpolates', () => {
    const advice = limitAdvice(0.3, histogram);
    expect(advice).toMatchObject({ isBound: false, bucket: { low: 0.25, high: 0.5 } });
    expect(advice?.within).toMatchObject({ low: 0.6, high: 0.9 });
    // 60 + 30 × (0.3 − 0.25) ÷ 0.25
    expect(advice?.within.estimate).toBeCloseTo(0.66);
  });

  test('above the last bound leaves open what is above it', () => {
    expect(limitAdvice(2, histogram)).toMatchObject({
      bucket: { low: 1, high: Infinity },
      within: { low: 0.98, high: 1 },
    });
  });

  test('says nothing without observations', () => {
    expect(limitAdvice(1, { bounds: [1, Infinity], counts: [0, 0], sum: null })).toBeNull();
  });
});

describe('the bounds around a limit', () => {
  const bounds = (limit: number, today: readonly number[]): readonly number[] =>
    boundsAround(limit, today).map(({ bound }) => bound);

  test('are the limit and one within 5 % on each side', () => {
    expect(bounds(0.3, [0.25, 0.5])).toEqual([0.286, 0.3, 0.315]);
    expect(bounds(300, [])).toEqual([286, 300, 315]);
  });

  test('are only those that are missing', () => {
    expect(bounds(0.5, [0.48, 0.5, 1])).toEqual([0.525]);
    expect(bounds(0.5, [0.48, 0.5, 0.52])).toEqual([]);
  });

  test.each([0.05, 0.123, 0.5, 7, 9.7, 250])('leave an error of 5 %% at most around %d', (limit) => {
    const found = bounds(limit, []);
    found.slice(1).forEach((bound, i) => {
      const before = found[i] ?? NaN;
      expect(bound - before).toBeGreaterThan(0);
      expect((bound - before) / before).toBeLessThanOrEqual(0.05 + 1e-12);
    });
  });
});
