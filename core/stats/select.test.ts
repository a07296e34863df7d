import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ascendingOrder } from './percentiles.ts';

test('the order of a stable sort', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 200 }), (list) => {
      const expected = list.map((_, i) => i).sort((a, b) => (list[a] ?? NaN) - (list[b] ?? NaN));
      expect([...ascendingOrder(Float64Array.from(list))]).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});

test.each([0, 1, 2, 3, 1000])('%i values in order, and backwards', (n) => {
  const values = Float64Array.from({ length: n }, (_, i) => i);
  expect([...ascendingOrder(values)]).toEqual([...values]);
  expect([...ascendingOrder(values.slice().reverse())]).toEqual([...values].reverse());
});
