import { expect, test } from '@jest/globals';
import { wallInstant } from './wall-instant.ts';

test.each([
  [1795300106759, '2026-11-21T22:28:26.759Z'],
  [0, null],
  [12_500, null],
  [NaN, null],
  [Infinity, null],
  [1e308, null],
])('%p', (ms, instant) => {
  expect(wallInstant(ms)).toBe(instant);
});
