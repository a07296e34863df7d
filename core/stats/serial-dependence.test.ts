import { expect, test } from '@jest/globals';
import { serialDependence } from './serial-dependence.ts';
import { sfc32 } from './seeded-random.ts';

/** First-order autoregression with uniform innovations. */
function autoregression(rho: number, n: number, seed: number): number[] {
  const random = sfc32(seed);
  let x = 0;
  for (let i = 0; i < 50; i++) x = rho * x + random() / 2 ** 32 - 0.5;
  return Array.from({ length: n }, () => (x = rho * x + random() / 2 ** 32 - 0.5));
}

test('a small series by hand', () => {
  // Ranks 1 … 10 in order: steps 9, squares 82.5; products of neighbors 57.75; (10 · 0.7 + 1) ÷ 7 is above 1.
  const found = serialDependence([1, 2, 3, 4, 5, 6, 7, 8, 9, 100]);
  expect(found?.autocorrelation).toBe(1);
  // Φ((9 ÷ 82.5 − 2) ÷ √(20 ÷ 57)) = Φ(−3.192)
  expect(found?.p).toBeCloseTo(0.000707, 5);
});

test('few or equal values give no result', () => {
  expect(serialDependence([1, 2, 3, 4, 5, 6, 7, 8, 9])).toBeNull();
  expect(serialDependence(new Array<number>(20).fill(3))).toBeNull();
});

test('independent values are rarely taken for dependent: at the level of p', () => {
  const seen = Array.from({ length: 2000 }, (_, i) => serialDependence(autoregression(0, 20, i))?.p ?? 1);
  const share = seen.filter((p) => p <= 0.05).length / seen.length;
  expect(share).toBeGreaterThan(0.035);
  expect(share).toBeLessThan(0.065);
});

test('the autocorrelation of 20 values is right within 0.1 on average', () => {
  const found = Array.from(
    { length: 2000 },
    (_, i) => serialDependence(autoregression(0.5, 20, i))?.autocorrelation ?? 0,
  );
  expect(Math.abs(found.reduce((sum, value) => sum + value, 0) / found.length - 0.5)).toBeLessThan(0.1);
});

test('strong dependence is seen in 20 runs nearly always', () => {
  const seen = Array.from({ length: 500 }, (_, i) => serialDependence(autoregression(0.7, 20, i))?.p ?? 1);
  expect(seen.filter((p) => p <= 0.05).length / seen.length).toBeGreaterThan(0.8);
});
