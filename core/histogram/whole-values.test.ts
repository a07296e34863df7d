import { expect, test } from '@jest/globals';
import { hasWholeValues } from './whole-values.ts';

test.each<[unit: string | null, bounds: number[], whole: boolean]>([
  ['tokens', [1, 10, Infinity], true],
  ['requests', [1, 2], true],
  ['seconds', [1, 2], false],
  ['milliseconds', [100, 500], false],
  ['tokens_per_second', [1, 8], false],
  ['ratio', [0, 1], false],
  ['bytes', [2048], false],
  // Half blocks exist there.
  ['blocks', [0.25, 0.5, 1], false],
  [null, [1, 2], false],
])('%p with the bounds %p: %p', (unit, bounds, whole) => {
  expect(hasWholeValues(unit, bounds)).toBe(whole);
});
