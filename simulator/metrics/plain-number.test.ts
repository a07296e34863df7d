import { expect, test } from '@jest/globals';

import { plainNumber } from './plain-number.ts';

// What `println!("{}", x)` prints of an f64.
test.each([
  [0, '0'],
  [5, '5'],
  [0.00001, '0.00001'],
  [1.5e-7, '0.00000015'],
  [0.15000000000000002, '0.15000000000000002'],
  [430467.2100000001, '430467.2100000001'],
  [1e21, '1000000000000000000000'],
  [1.25e22, '12500000000000000000000'],
  [-2.5e-8, '-0.000000025'],
  [Infinity, '+Inf'],
  [NaN, 'NaN'],
])('%d', (value, text) => {
  expect(plainNumber(value)).toBe(text);
});
