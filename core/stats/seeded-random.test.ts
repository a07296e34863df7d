import { expect, test } from '@jest/globals';
import { sfc32 } from './seeded-random.ts';

test('sfc32 gives the numbers of its definition', () => {
  // The recurrence in Python's whole numbers, seed 42: a, b, c, n = 0, 42, 0, 1; twelve rounds dropped; each round
  // r = (a + b + n) % 2**32; n += 1; a = b ^ (b >> 9); b = (c + (c << 3)) % 2**32; c = (rotl(c, 21) + r) % 2**32
  const next = sfc32(42);
  expect([next(), next(), next(), next()]).toEqual([1264412219, 1947509147, 3919439299, 1251167922]);
});

test('sfc32 is even over its range', () => {
  const next = sfc32(1);
  const counts = new Array<number>(16).fill(0);
  for (let i = 0; i < 16_000; i++) {
    const cell = next() >>> 28;
    counts[cell] = (counts[cell] ?? 0) + 1;
  }
  // Chi-squared of 16 cells of 1,000: above 37.7 with probability 0.001 (15 degrees of freedom); the seed is fixed.
  const chiSquared = counts.reduce((sum, count) => sum + (count - 1000) ** 2 / 1000, 0);
  expect(chiSquared).toBeLessThan(37.7);
});
