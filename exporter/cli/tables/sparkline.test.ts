import { expect, test } from '@jest/globals';
import { sparkline } from './sparkline.ts';

test.each([
  [[0, 1, 2, 3, 4, 5, 6, 7], '▁▂▃▄▅▆▇█'],
  // Scaled from 0: a steady value is not made to look like a wave.
  [[20, 20.2, 19.9], '███'],
  [[null, 5, null, 10], ' ▅ █'],
  [[0, 0], '▁▁'],
  [[], ''],
])('%j is "%s"', (values, expected) => {
  expect(sparkline(values)).toBe(expected);
});
