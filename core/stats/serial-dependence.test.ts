import { describe, expect, test } from '@jest/globals';
import { sfc32 } from './seeded-random.ts';
import { dependenceBetween, dependentDeviation, rankAutocorrelation } from './serial-dependence.ts';

/** First-order autoregression with uniform innovations. */
function autoregression(rho: number, n: number, seed: number): number[] {
  const random = sfc32(seed);
  let x = 0;
  for (let i = 0; i < 50; i++) x = rho * x + random() / 2 ** 32 - 0.5;
  return Array.from({ length: n }, () => (x = rho * x + random() / 2 ** 32 - 0.5));
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

describe('the autocorrelation of ranks', () => {
  test('of small series by hand', () => {
    // Ranks 1 … 10 in order: squares 82.5; products of neighbors 57.75; (10 · 0.7 + 1) ÷ 7 is above 1.
    expect(rankAutocorrelation([1, 2, 3, 4, 5, 6, 7, 8, 9, 100])).toBe(1);
    // Products −4.5 · 0.5 + 0.5 · −3.5 + … = −32.25; (10 · −32.25 ÷ 82.5 + 1) ÷ 7.
    expect(rankAutocorrelation([1, 6, 2, 7, 3, 8, 4, 9, 5, 10])).toBeCloseTo(-0.4156, 4);
  });

  test('of few or equal values is not known', () => {
    expect(rankAutocorrelation([1, 2, 3, 4, 5, 6, 7, 8, 9])).toBeNull();
    expect(rankAutocorrelation(new Array<number>(20).fill(3))).toBeNull();
  });

  test('of 20 values is right within 0.1 on average', () => {
    const found = Array.from({ length: 2000 }, (_, i) => rankAutocorrelation(autoregression(0.5, 20, i)) ?? 0);
    expect(Math.abs(mean(found) - 0.5)).toBeLessThan(0.1);
  });
});

describe('the dependence between runs', () => {
  const seriesOf = (rho: number, seed: number): number[][] =>
    Array.from({ length: 5 }, (_, i) => autoregression(rho, 20, 5 * seed + i));

  test('is never negative, and by five series seldom much too small', () => {
    const found = (rho: number): readonly number[] =>
      Array.from({ length: 400 }, (_, i) => dependenceBetween(seriesOf(rho, i)));
    expect(Math.min(...found(0))).toBeGreaterThanOrEqual(0);
    expect(mean(found(0))).toBeLessThan(0.2);
    expect(found(0).filter((value) => value > 0.3).length / 400).toBeLessThan(0.05);
    expect(found(0.7).filter((value) => value < 0.45).length / 400).toBeLessThan(0.05);
  });

  test('does not count series that hardly vary, such as the share of errors', () => {
    const zeros = Array.from({ length: 20 }, (_, i) => (i === 4 ? 1 : 0));
    const series = seriesOf(0.7, 1);
    expect(dependenceBetween([...series, zeros])).toBe(dependenceBetween(series));
    expect(dependenceBetween([zeros])).toBe(0);
    expect(dependenceBetween([])).toBe(0);
  });
});

test('the means of dependent values scatter as much more as simulations show', () => {
  const [n, k, rho] = [20, 3, 0.5];
  const differences = Array.from({ length: 4000 }, (_, i) => {
    const values = autoregression(rho, n + 200 + k, i);
    return { ofMeans: mean(values.slice(-k)) - mean(values.slice(0, n)), variance: varianceOf(values.slice(0, n)) };
  });
  const scatter = Math.sqrt(mean(differences.map(({ ofMeans }) => ofMeans ** 2)));
  const independent = Math.sqrt(mean(differences.map(({ variance }) => variance)) * (1 / k + 1 / n));
  expect(dependentDeviation({ dependence: rho, n }, k)).toBeCloseTo(scatter / independent, 1);
  expect(dependentDeviation({ dependence: 0, n }, k)).toBe(1);
});

function varianceOf(values: readonly number[]): number {
  const center = mean(values);
  return values.reduce((sum, value) => sum + (value - center) ** 2, 0) / (values.length - 1);
}
