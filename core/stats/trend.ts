import { normalCdf } from './normal-cdf.ts';

/** Whether a series rises, and by how much. */
export interface Trend {
  /** Median change from one value to the next (Theil 1950, Sen 1968); 0 with fewer than two values. */
  readonly slope: number;
  /** Probability of a series that rises so consistently if there is no trend: one-sided; 1 with fewer than two values. */
  readonly p: number;
}

/**
 * Tests a series of independent values for a rise, whatever their distribution: Mann's test (Econometrica 13, 1945) with
 * Kendall's correction for ties, normal approximation with continuity correction, and the Theil–Sen slope. O(n²).
 */
export function risingTrend(values: readonly number[]): Trend {
  const n = values.length;
  const slopes: number[] = [];
  let score = 0;
  for (let j = 1; j < n; j++) {
    for (let i = 0; i < j; i++) {
      const change = (values[j] ?? NaN) - (values[i] ?? NaN);
      score += Math.sign(change);
      slopes.push(change / (j - i));
    }
  }
  if (slopes.length === 0) return { slope: 0, p: 1 };
  const variance = (n * (n - 1) * (2 * n + 5) - tieCorrection(values)) / 18;
  const z = variance > 0 ? (score - Math.sign(score)) / Math.sqrt(variance) : 0;
  return { slope: median(slopes), p: normalCdf(-z) };
}

function tieCorrection(values: readonly number[]): number {
  const sizes = [...Map.groupBy(values, (value) => value).values()].map(({ length }) => length);
  return sizes.reduce((sum, size) => sum + size * (size - 1) * (2 * size + 5), 0);
}

function median(values: number[]): number {
  values.sort((a, b) => a - b);
  const middle = (values.length - 1) / 2;
  return ((values[Math.floor(middle)] ?? NaN) + (values[Math.ceil(middle)] ?? NaN)) / 2;
}
