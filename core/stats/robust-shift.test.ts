import { describe, expect, test } from '@jest/globals';
import { normalQuantile, studentT } from './distributions.ts';
import {
  chanceOf,
  changeInterval,
  detectableShift,
  lookAt,
  LOOKS,
  outliersOf,
  recovery,
  referenceOf,
  dependenceBetween,
  dependentDeviation,
  rankAutocorrelation,
} from './robust-shift.ts';
import { seededRandom, sfc32 } from './seeded-random.ts';
import { rankSumNull, type KnownInterval } from './shift.ts';

const exactly = (values: readonly number[]): readonly KnownInterval[] => values.map((value) => [value, value]);
/** As many quantiles of a normal distribution, so mixed that none resembles the one before; n is no multiple of 7. */
const normal = (n: number, mean = 0, deviation = 1): readonly number[] =>
  Array.from({ length: n }, (_, i) => mean + deviation * normalQuantile((((7 * i) % n) + 0.5) / n));
const REFERENCE = referenceOf(exactly(normal(20, 3, 0.5)));

describe('the reference', () => {
  test('has the center and the standard deviation of normal values', () => {
    const large = referenceOf(exactly(normal(2001, 3, 0.5)));
    expect(large.center[0]).toBeCloseTo(3, 6);
    expect(large.scale).toBeCloseTo(0.5, 2);
  });

  test('is hardly moved by one value, however far off', () => {
    const disturbed = referenceOf(exactly([...normal(19, 3, 0.5), 1e6]));
    expect(Math.abs(disturbed.center[0] - 3)).toBeLessThan(0.06);
    expect(disturbed.scale).toBeLessThan(0.65);
  });

  test('of values with several levels has the center of the last and the scatter within them', () => {
    const values = [...normal(12, 0, 1), ...normal(8, 50, 1)];
    const levels = values.map((_, i) => (i < 12 ? 0 : 1));
    const { center, scale, n } = referenceOf(exactly(values), { levels });
    expect(center[0]).toBeCloseTo(50, 1);
    expect(scale).toBeLessThan(1.3);
    expect(n).toBe(8);
  });

  test('of equal values finds every other value, and none that is equal', () => {
    const equal = referenceOf(exactly(new Array<number>(20).fill(1)));
    expect(lookAt(equal, exactly([1, 1, 1])).up).toBe(0.5);
    expect(lookAt(equal, exactly([1.1, 1.1, 1.1])).up).toBeLessThan(1e-4);
  });

  test('with values that are not finite leaves everything open', () => {
    const open = referenceOf(exactly([...normal(9), ...new Array<number>(11).fill(Infinity)]));
    expect(lookAt(open, exactly([5, 5, 5]))).toMatchObject({ up: 1, down: 1 });
  });
});

describe('a look', () => {
  test("at one value is Student's prediction interval", () => {
    const { scale, center } = REFERENCE;
    const at = center[0] + studentT(0.98, 19) * scale * Math.sqrt(1 + 1 / 20);
    expect(lookAt(REFERENCE, exactly([at])).up).toBeCloseTo(0.01, 9);
  });

  test('at several values is not decided by one of them', () => {
    expect(lookAt(REFERENCE, exactly([1e6, 3, 3])).up).toBeGreaterThan(0.01);
    expect(lookAt(REFERENCE, exactly([5.5, 5.4, 5.6])).up).toBeLessThan(1e-4);
  });

  test('that orders all as far as possible is more certain than ranks can be', () => {
    expect(lookAt(REFERENCE, exactly([9, 9, 9])).up).toBeLessThan(rankSumNull(20, 3).tail(60));
  });

  test('of values known as intervals takes the corner that supports a change least', () => {
    const { up, down, estimate } = lookAt(REFERENCE, [
      [3, 9],
      [3, 9],
      [3, 9],
    ]);
    expect([up > 0.4, down > 0.9]).toEqual([true, true]);
    expect(estimate[0]).toBeCloseTo(0, 1);
    expect(estimate[1]).toBeCloseTo(6, 1);
  });

  test('finds the change that it says it finds', () => {
    const shift = detectableShift(REFERENCE, 5, 1e-3);
    const values = (by: number): readonly KnownInterval[] =>
      exactly(new Array<number>(5).fill(REFERENCE.center[0] + by));
    expect(lookAt(REFERENCE, values(shift * 1.001)).up).toBeLessThan(1e-3);
    expect(lookAt(REFERENCE, values(shift * 0.999)).up).toBeGreaterThan(1e-3);
    expect(changeInterval(REFERENCE, lookAt(REFERENCE, values(shift)), 2e-3)[0]).toBeCloseTo(0, 9);
  });
});

test('values that depend on the one before decide less, and find only larger changes', () => {
  const dependent = { ...REFERENCE, dependence: 0.5 };
  const slow = exactly([4.3, 4.2, 4.4]);
  expect(lookAt(dependent, slow).up).toBeGreaterThan(10 * lookAt(REFERENCE, slow).up);
  expect(lookAt(dependent, slow).estimate).toEqual(lookAt(REFERENCE, slow).estimate);
  expect(detectableShift(dependent, 8, 1e-3)).toBeGreaterThan(1.5 * detectableShift(REFERENCE, 8, 1e-3));
});

test.each([6, 12, 20])('with a reference of %i values the looks together err at most as often as they may', (n) => {
  const random = seededRandom('looks');
  const one = (): KnownInterval => {
    const value = normalQuantile(Math.max(1e-9, random()));
    return [value, value];
  };
  let found = 0;
  for (let i = 0; i < 1500; i++) {
    const reference = referenceOf(Array.from({ length: n }, one), { level: 0.002 });
    for (let j = 0; j < 20; j++) {
      const last = Array.from({ length: 8 }, one);
      if (LOOKS.some((k) => chanceOf(lookAt(reference, last.slice(-k))) <= 0.002)) found++;
    }
  }
  expect(found / 30_000).toBeGreaterThan(0.0005);
  expect(found / 30_000).toBeLessThan(0.002);
});

test('values of normal histories are no outliers, and a disturbed one is', () => {
  expect(outliersOf(REFERENCE, exactly(normal(20, 3, 0.5)), 0.001)).toEqual([]);
  expect(outliersOf(REFERENCE, exactly([3, 3.2, 7, 2.9]), 0.001)).toEqual([2]);
});

test('no value alone ends a change, however low', () => {
  const lasting = exactly([5, 5.1, 4.9, 5, 5.2]);
  expect(recovery(REFERENCE, [...lasting, [-50, -50]], 5, 0.2).from).toBeNull();
  expect(recovery(REFERENCE, [...lasting, [3, 3], [3, 3]], 5, 0.2).from).toBe(5);
});

test('a change that lasts is seldom taken for over', () => {
  const random = seededRandom('lasting');
  const one = (): number => normalQuantile(Math.max(1e-9, random()));
  let over = 0;
  for (let i = 0; i < 300; i++) {
    const values = exactly(Array.from({ length: 20 }, () => 3 + 0.5 * (2 + one())));
    for (let n = 6; n <= 20; n++) if (recovery(REFERENCE, values.slice(0, n), 5, 0.2).from !== null) over++;
  }
  expect(over).toBe(0);
});

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
