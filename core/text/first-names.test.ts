import { expect, test } from '@jest/globals';
import { firstNames } from './first-names.ts';

test.each([
  [[], ''],
  [['a', 'b', 'c'], 'a, b, c'],
  [['a', 'b', 'c', 'd', 'e'], 'a, b, c and 2 more'],
])('of %j the first three are named', (names, text) => {
  expect(firstNames(names, 3)).toBe(text);
});
