import { expect, test } from '@jest/globals';
import { changeText, percentText } from './change-text.ts';

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
