import { describe, expect, test } from '@jest/globals';
import { LatencySample } from './latency-sample.ts';

function sampleOf(n: number, most: number): LatencySample {
  const sample = new LatencySample(most);
  for (let i = 0; i < n; i++) sample.add(i, i / 4, i >= 10);
  return sample;
}

describe('a sample of latencies', () => {
  test('keeps all values up to the limit', () => {
    const sample = sampleOf(3000, 5000);
    expect([...sample.at_seconds]).toEqual(Array.from({ length: 3000 }, (_, i) => i));
    expect([...sample.sortedMeasured().subarray(0, 2)]).toEqual([2.5, 2.75]);
    expect(sample.sortedMeasured()).toHaveLength(2990);
  });

  test('keeps a random sample above the limit, and the total count', () => {
    const sample = sampleOf(100_000, 5000);
    expect([sample.requests, sample.measuredRequests, sample.values.length]).toEqual([100_000, 99_990, 5000]);
    // Each with its own moment, and none twice.
    expect(sample.values.every((value, i) => value * 4 === sample.at_seconds[i])).toBe(true);
    expect(new Set(sample.values).size).toBe(5000);
    // Uniform over the whole: the mean of 5,000 of them has a standard error of 204 from the middle.
    const mean = sample.at_seconds.reduce((sum, at) => sum + at, 0) / 5000;
    expect(Math.abs(mean - 50_000)).toBeLessThan(5 * 408);
  });

  test('is deterministic', () => {
    expect(sampleOf(20_000, 100).values).toEqual(sampleOf(20_000, 100).values);
  });

  test('skips requests without a value', () => {
    const sample = new LatencySample();
    sample.add(1, NaN, true);
    expect([sample.requests, sample.values.length, sample.sortedMeasured().length]).toEqual([0, 0, 0]);
  });
});
