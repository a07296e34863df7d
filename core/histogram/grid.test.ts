import { describe, expect, test } from '@jest/globals';
import { gridError } from './grid-error.ts';
import { sameBound, sameGrid } from './grid.ts';

test.each([
  [0.1 + 0.2, 0.3, true],
  [1, 1 + 1e-10, true],
  [1, 1 + 1e-8, false],
  [0, 0, true],
  [0, 1e-12, false],
  [-1, 1, false],
  [Infinity, Infinity, true],
  [Infinity, 1e300, false],
  [Infinity, -Infinity, false],
  [NaN, NaN, false],
])('sameBound(%p, %p) is %p', (a, b, expected) => {
  expect(sameBound(a, b)).toBe(expected);
});

test('sameGrid compares every edge', () => {
  expect(sameGrid([0.1, 0.1 + 0.2, Infinity], [0.1, 0.3, Infinity])).toBe(true);
  expect(sameGrid([0.1, 0.3, Infinity], [0.1, 0.4, Infinity])).toBe(false);
  expect(sameGrid([0.1, Infinity], [0.1, 0.3, Infinity])).toBe(false);
  expect(sameGrid([], [])).toBe(true);
});

describe('gridError', () => {
  const octaves = [1, 2, 4, 8, Infinity];
  test.each([
    // bucket (2, 4]: the truth just above 2, the estimate 4
    ['a whole bucket', 2, 4, 1],
    // truth 3, estimate 4: 1/3; truth 3, estimate 2: also 1/3
    ['one value', 3, 3, 1 / 3],
    // truth 3.9, estimate 2
    ['a value at the top of its bucket', 3.9, 3.9, 1.9 / 3.9],
    // truth 3, estimate 4: 1/3; truth just above 4 in (4, 8]: 4/4
    ['two buckets', 3, 6, 1],
    ['down to 0', 0, 1, Infinity],
    ['into the overflow bucket', 4, 9, Infinity],
    ['0 alone', 0, 0, Infinity],
  ])('%s', (_name, from, to, expected) => {
    expect(gridError(octaves, from, to)).toBeCloseTo(expected, 12);
  });

  test('is NaN when the range is none', () => {
    expect(gridError(octaves, 4, 3)).toBeNaN();
    expect(gridError(octaves, -1, 3)).toBeNaN();
    expect(gridError(octaves, NaN, 3)).toBeNaN();
  });

  test('is infinite beyond a grid without an overflow bucket', () => {
    expect(gridError([1, 2], 1, 3)).toBe(Infinity);
  });

  test('has no error for an exactly known first edge of 0', () => {
    // truth and estimate both in (0, 1]: truth 0.5, estimate 1 or 0
    expect(gridError([1, Infinity], 0.5, 0.5)).toBe(1);
  });
});
