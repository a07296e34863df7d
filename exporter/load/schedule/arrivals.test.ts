import { describe, expect, test } from '@jest/globals';
import { arrivalGaps, arrivalOffsets_ns } from './arrivals.ts';
import type { RatePlan } from './load-plan.ts';
import { seededRandom } from '../../../core/stats/seeded-random.ts';

const PLAN: RatePlan = { kind: 'rate', requestRate: 10, pattern: 'constant', smoothness: 1, rampSeconds: 0, seed: 1 };

function offsets(plan: RatePlan, count: number, phase: 'warmup' | 'measure' = 'measure'): number[] {
  const arrivals = arrivalOffsets_ns(plan, phase, {});
  return Array.from({ length: count }, () => arrivals.next().value as number);
}

describe('a rate', () => {
  test('constant: every 1/rate', () => {
    expect(offsets(PLAN, 4)).toEqual([0, 1e8, 2e8, 3e8]);
  });

  test('with a ramp: R t²/2D arrivals by t, then one every 1/R', () => {
    // R = 10/s, D = 2 s: the k-th at sqrt(2·2·k/10) s up to the 10th at 2 s.
    const expected = [0, Math.sqrt(0.4), Math.sqrt(0.8), Math.sqrt(1.2)].map((s) => Math.round(s * 1e9));
    const found = offsets({ ...PLAN, rampSeconds: 2 }, 13);
    expect(found.slice(0, 4)).toEqual(expected);
    expect(found.slice(10)).toEqual([2e9, 2.1e9, 2.2e9]);
  });

  test.each(['poisson', 'gamma'] as const)('%s: ascending whole nanoseconds, at the rate', (pattern) => {
    const found = offsets({ ...PLAN, pattern, smoothness: 0.5, requestRate: 1000 }, 20_001);
    found.forEach((offset, i) => {
      expect(Number.isSafeInteger(offset)).toBe(true);
      expect(offset).toBeGreaterThanOrEqual(found[i - 1] ?? 0);
    });
    // The mean of 20,000 gaps with a coefficient of variation of at most √2 is within 4 % with more than 3.9 sigma.
    expect(Math.abs((found.at(-1) ?? 0) / 1e9 / 20 - 1)).toBeLessThan(0.04);
  });

  test('the same seed gives the same arrivals, another seed or phase others', () => {
    const plan = { ...PLAN, pattern: 'poisson' as const };
    expect(offsets(plan, 50)).toEqual(offsets(plan, 50));
    expect(offsets({ ...plan, seed: 2 }, 50)).not.toEqual(offsets(plan, 50));
    expect(offsets(plan, 50, 'warmup')).not.toEqual(offsets(plan, 50));
  });
});

describe('gaps: mean 1, variance and distribution of their kind', () => {
  const N = 100_000;
  const draw = (pattern: 'poisson' | 'gamma', smoothness: number): number[] => {
    const gap = arrivalGaps(pattern, smoothness, seededRandom(`gaps ${pattern} ${smoothness}`));
    return Array.from({ length: N }, gap);
  };
  const mean = (values: readonly number[]): number => values.reduce((sum, x) => sum + x, 0) / values.length;
  const variance = (values: readonly number[]): number => {
    const middle = mean(values);
    return mean(values.map((x) => (x - middle) ** 2));
  };
  const share = (values: readonly number[], above: number): number => values.filter((x) => x > above).length / N;

  test('poisson: exponential, P(gap > x) = exp(-x)', () => {
    const gaps = draw('poisson', 1);
    for (const x of [0.1, 0.5, 1, 2, 4]) expect(Math.abs(share(gaps, x) - Math.exp(-x))).toBeLessThan(0.006);
  });

  test.each([0.25, 0.5, 1, 2, 10])('gamma of shape %d: variance 1/shape', (shape) => {
    const gaps = draw('gamma', shape);
    expect(Math.abs(mean(gaps) - 1)).toBeLessThan(0.03);
    expect(Math.abs(variance(gaps) * shape - 1)).toBeLessThan(0.06);
    expect(Math.min(...gaps.slice(0, 10_000))).toBeGreaterThanOrEqual(0);
  });

  test('gamma of shape 1 is exponential; of shape 2, P(gap > x) = (1 + 2x) exp(-2x)', () => {
    const one = draw('gamma', 1);
    const two = draw('gamma', 2);
    for (const x of [0.2, 1, 2.5]) {
      expect(Math.abs(share(one, x) - Math.exp(-x))).toBeLessThan(0.006);
      expect(Math.abs(share(two, x) - (1 + 2 * x) * Math.exp(-2 * x))).toBeLessThan(0.006);
    }
  });
});
