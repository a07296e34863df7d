import { expect, test } from '@jest/globals';
import { normalCdf } from './normal-cdf.ts';

// scipy 1.17.1: stats.norm.cdf(z)
test.each([
  [-8, 6.22096057427174e-16],
  [-3.5, 0.00023262907903552502],
  [-1, 0.15865525393145707],
  [0, 0.5],
  [0.5, 0.6914624612740131],
  [1.96, 0.9750021048517795],
  [6, 0.9999999990134123],
])('normalCdf(%p)', (z, expected) => {
  expect(Math.abs(normalCdf(z) / expected - 1)).toBeLessThan(z < -7 ? 1e-8 : 1e-12);
});

test('far out', () => expect([normalCdf(-40), normalCdf(40)]).toEqual([0, 1]));
