import { expect, test } from '@jest/globals';
import { normalQuantile } from './normal-quantile.ts';

// Python 3: statistics.NormalDist().inv_cdf(p)
test.each([
  [0.975, 1.9599639845400536],
  [0.995, 2.5758293035489],
  [0.01, -2.3263478740408408],
  [0.3, -0.5244005127080407],
  [0.5, 0],
])('normalQuantile(%p)', (p, expected) => {
  expect(Math.abs(normalQuantile(p) - expected)).toBeLessThanOrEqual(3e-9);
});
