import { expect, test } from '@jest/globals';
import {
  counted,
  quantity,
  quantityRange,
  significant,
  tickText,
  things,
  firstNames,
  changeText,
  percentText,
  bucketIntervalText,
} from './quantities.ts';

test.each([
  [0.0843217, 'seconds', '84.3 ms'],
  [0.000123456, 'seconds', '123 µs'],
  [12.3456, 'seconds', '12.3 s'],
  [0, 'seconds', '0 ms'],
  [0.0125, 'ratio', '1.25 %'],
  [1234.5, 'tokens_per_second', '1,235 tokens/s'],
  [9.876, 'requests_per_second', '9.88 requests/s'],
  [1, 'tokens', '1 token'],
  [1, 'requests', '1 request'],
  [1.002, 'tokens', '1.00 tokens'],
  [null, 'seconds', '–'],
] as const)('%p %s is %s', (value, unit, expected) => {
  expect(quantity(value, unit)).toBe(expected);
});

test('a number of values that is not known is no 0', () => {
  expect([counted(null), counted(undefined), counted(0), counted(1200)]).toEqual(['–', '–', '0', '1,200']);
});

test('very small numbers keep their digits', () => {
  expect(significant(0.00123)).toBe('0.00123');
});

test.each([
  [[0.344, 0.377], 'seconds', '344 – 377 ms'],
  [[0.9, 1.25], 'seconds', '900 ms – 1.25 s'],
  [[0.01, 0.02], 'ratio', '1 – 2 %'],
  [[0, 0.25], 'seconds', '0 – 250 ms'],
] as const)('the range %p %s is %s', (range, unit, expected) => {
  expect(quantityRange(range, unit)).toBe(expected);
});

test.each([
  [1.5, 'seconds', '1.5 s'],
  [0.1, 'seconds', '100 ms'],
  [0, 'seconds', '0'],
  [0.25, 'ratio', '25 %'],
  [1500, 'tokens', '1,500 tokens'],
] as const)('at an axis %p %s is %s', (value, unit, expected) => {
  expect(tickText(value, unit)).toBe(expected);
});

test.each([
  [0, 'requests', '0 requests'],
  [1, 'requests', '1 request'],
  [1.0000000001, 'requests', '1 request'],
  [1.5, 'requests', '1.50 requests'],
  [2000, 'requests', '2,000 requests'],
  [1, 'families', '1 family'],
  [1, 'batches', '1 batch'],
  [1, 'entries', '1 entry'],
  [1, 'passes', '1 pass'],
  [1, 'leases', '1 lease'],
  [1, 'series', '1 series'],
  [0.1 + 0.2 + 2.7, 'requests', '3 requests'],
  [1, 'celsius', '1 celsius'],
])('%d %s: %s', (count, plural, text) => {
  expect(things(count, plural)).toBe(text);
});

test.each([
  [[], ''],
  [['a', 'b', 'c'], 'a, b, c'],
  [['a', 'b', 'c', 'd', 'e'], 'a, b, c and 2 more'],
])('of %j the first three are named', (names, text) => {
  expect(firstNames(names, 3)).toBe(text);
});

test.each([
  [1, '0 %'],
  [1.1234, '+12.3 %'],
  [0.95, '−5 %'],
  [1.0005, '+0.05 %'],
  [0.9995, '−0.05 %'],
  [1 - 2e-5, '0 %'],
  [1 + 2e-5, '0 %'],
  [1.00097, '+0.1 %'],
  [0, '−100 %'],
  [10, '+900 %'],
  [25.4, '×25'],
  [Infinity, '+∞'],
])('the ratio %d is a change of %s', (ratio, text) => {
  expect(changeText(ratio)).toBe(text);
});

test('a share is written as a percentage', () => {
  expect([0.05, 0.983, 0, 4e-5, 0.0004, 0.1004].map(percentText)).toEqual([
    ...['5 %', '98.3 %', '0 %'],
    ...['0 %', '0.04 %', '10 %'],
  ]);
});

test.each<[low: number | null, high: number | null, width: number | null, unit: string | null, text: string]>([
  [0.1, 0.25, 0.15, 'seconds', '100 – 250 ms'],
  [0.5, 2.5, 2, 'seconds', '500 ms – 2.50 s'],
  [10, null, null, 'seconds', '> 10 s'],
  [null, 0, null, 'seconds', '≤ 0 ms'],
  [100, 300, 199, 'tokens', '100 – 300 tokens'],
  [1, 2, 0, 'tokens', '= 2 tokens'],
  [100, 500, 400, 'milliseconds', '100 – 500 milliseconds'],
  [1, 5, 4, 'gibibytes_per_second', '1 – 5 gibibytes per second'],
  [1, 5, 4, null, '1 – 5'],
])('(%p, %p]: %p %p', (low, high, width, unit, text) => {
  expect(bucketIntervalText({ low, high, width }, unit)).toBe(text);
});
