import { expect, test } from '@jest/globals';
import { quantity, significant } from './quantities.ts';

test.each([
  [0.0843217, 'seconds', '84.3 ms'],
  [0.000123456, 'seconds', '123 µs'],
  [12.3456, 'seconds', '12.3 s'],
  [0, 'seconds', '0 ms'],
  [0.0125, 'ratio', '1.25 %'],
  [1234.5, 'tokens_per_second', '1,235 tokens/s'],
  [9.876, 'requests_per_second', '9.88 requests/s'],
  [null, 'seconds', '–'],
] as const)('%p %s is %s', (value, unit, expected) => {
  expect(quantity(value, unit)).toBe(expected);
});

test('very small numbers keep their digits', () => {
  expect(significant(0.00123)).toBe('0.00123');
});
