import { describe, expect, test } from '@jest/globals';
import { batchDependence, dependence } from './dependence.ts';
import { sfc32 } from './seeded-random.ts';

/** First-order autoregression driven by a linear congruential generator: x = phi x + u. */
function autoregression(phi: number, n: number): Float64Array {
  let state = 12345;
  let x = 0;
  return Float64Array.from({ length: n }, () => {
    state = (Math.imul(1664525, state) + 1013904223) >>> 0;
    x = phi * x + (state / 2 ** 32 - 0.5);
    return x;
  });
}

describe('dependence', () => {
  // Python: arch 8.0.0, arch.bootstrap.optimal_block_length(series)['circular'] of the same series. Its window starts
  // one lag further than the paper's, so a few percent of difference are expected.
  test.each([
    [0.5, 2000, 16.408101456168488],
    [0.9, 5000, 85.90467184512984],
  ])('finds the block length of Politis and White, phi %p', (phi, n, expected) => {
    const { blockLength } = dependence(autoregression(phi, n));
    expect(blockLength).toBeGreaterThan(expected * 0.85);
    expect(blockLength).toBeLessThan(expected * 1.15);
  });

  test('finds short blocks and full size in independent values', () => {
    const { blockLength, effectiveSampleSize } = dependence(autoregression(0, 2000));
    expect(blockLength).toBeLessThanOrEqual(5);
    expect(effectiveSampleSize).toBeGreaterThan(1500);
  });

  // Theory: n (1 - phi) / (1 + phi)
  test.each([
    ['lags', dependence, 0.5, 20_000, 6667],
    ['lags', dependence, 0.9, 20_000, 1053],
    ['batches', batchDependence, 0.5, 60_000, 20_000],
    ['batches', batchDependence, 0.9, 60_000, 3158],
  ])('effective sample size from %s, phi %#', (_name, measure, phi, n, expected) => {
    const { effectiveSampleSize } = measure(autoregression(phi, n));
    expect(effectiveSampleSize).toBeGreaterThan(expected * 0.7);
    expect(effectiveSampleSize).toBeLessThan(expected * 1.4);
  });

  test('never exceeds the number of values', () => {
    expect(dependence(Float64Array.from({ length: 200 }, (_, i) => i % 2)).effectiveSampleSize).toBe(200);
  });

  test('takes equal values for independent', () => {
    expect(dependence(new Float64Array(100).fill(0.1))).toEqual({ blockLength: 1, effectiveSampleSize: 100 });
    expect(dependence(Float64Array.of(3))).toEqual({ blockLength: 1, effectiveSampleSize: 1 });
  });

  test('does not take a strong cycle for independence, though the lags say nothing of it', () => {
    const random = sfc32(7);
    const cycle = Float64Array.from({ length: 50_000 }, (_, i) => Math.sin(i / 40) + 0.3 * (random() / 2 ** 32 - 0.5));
    const { blockLength, effectiveSampleSize } = dependence(cycle);
    // 3 sqrt(n), the longest block that the rule allows
    expect(blockLength).toBe(671);
    expect(effectiveSampleSize).toBeLessThan(25_000);
  });
});
