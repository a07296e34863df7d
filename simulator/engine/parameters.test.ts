import { expect, test } from '@jest/globals';
import { windowEnd } from './parameters.ts';

test('once: the start is inclusive, the end exclusive', () => {
  const window = { afterSeconds: 2, seconds: 3, everySeconds: null };
  expect([0, 1.9, 2, 4.9, 5, 100].map((time_s) => windowEnd(window, time_s))).toEqual([null, null, 5, 5, null, null]);
});

test('again and again', () => {
  const window = { afterSeconds: 1, seconds: 2, everySeconds: 10 };
  expect([0, 1, 2.9, 3, 10.9, 11, 12, 13, 21].map((time_s) => windowEnd(window, time_s))).toEqual([
    null,
    3,
    3,
    null,
    null,
    13,
    13,
    null,
    23,
  ]);
});
