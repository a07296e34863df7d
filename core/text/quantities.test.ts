import { expect, test } from '@jest/globals';
import { counted, quantity, quantityRange, significant, tickText } from './quantities.ts';

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
