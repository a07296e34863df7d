import { describe, expect, test } from '@jest/globals';
import { classicHistogram, inOrder } from './classic-histogram.ts';
import { parseBound } from './parse-bound.ts';
import { perBucket } from './per-bucket.ts';
import { total } from './total.ts';

describe('classicHistogram', () => {
  test('orders the buckets by value, not by text', () => {
    const h = classicHistogram(
      [
        ['+Inf', 9],
        ['10', 7],
        ['2', 3],
        ['1e-1', 1],
      ],
      12.5,
    );
    expect(h).toEqual({ bounds: [0.1, 2, 10, Infinity], counts: [1, 3, 7, 9], sum: 12.5 });
  });

  test('adds the counts of one bound written in two ways', () => {
    const h = classicHistogram([
      ['1', 2],
      ['1.0', 3],
      ['+Inf', 6],
    ]);
    expect(h).toEqual({ bounds: [1, Infinity], counts: [5, 6], sum: null });
  });

  test('leaves out a bucket whose le is no number', () => {
    const h = classicHistogram([
      ['NaN', 1],
      ['', 2],
      ['x', 3],
      ['1', 4],
      ['+Inf', 5],
    ]);
    expect(h).toEqual({ bounds: [1, Infinity], counts: [4, 5], sum: null });
  });

  test('of nothing is empty', () => {
    expect(classicHistogram([])).toEqual({ bounds: [], counts: [], sum: null });
  });
});

test('inOrder sorts and adds equal bounds, and returns an ordered histogram as it is', () => {
  const ordered = { bounds: [1, Infinity], counts: [5, 6], sum: 3 };
  expect(inOrder(ordered)).toBe(ordered);
  expect(inOrder({ bounds: [Infinity, 1, 1], counts: [6, 2, 3], sum: 3 })).toEqual(ordered);
});

test.each([
  ['+Inf', Infinity],
  ['Inf', Infinity],
  ['infinity', Infinity],
  ['-Inf', -Infinity],
  ['0.005', 0.005],
  ['1e+06', 1e6],
  ['5.', 5],
  ['.5', 0.5],
  ['-2.5E-3', -0.0025],
  ['NaN', null],
  ['', null],
  [' 1', null],
  ['0x10', null],
  ['1e999', null],
  ['1,5', null],
])('parseBound(%j) is %p', (text, expected) => {
  expect(parseBound(text)).toBe(expected);
});

describe('total', () => {
  test('is the count of the +Inf bucket', () => {
    expect(total({ bounds: [1, Infinity], counts: [4, 6], sum: null })).toBe(6);
  });

  test('is unknown without it', () => {
    expect(total({ bounds: [1, 2], counts: [4, 6], sum: null })).toBeNaN();
    expect(total({ bounds: [], counts: [], sum: null })).toBeNaN();
  });
});

test('perBucket takes the cumulative counts apart', () => {
  expect(perBucket({ bounds: [1, 2, Infinity], counts: [4, 4, 6.5], sum: null })).toEqual([4, 0, 2.5]);
});
