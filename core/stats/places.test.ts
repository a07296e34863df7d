import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { placesOf } from './places.ts';

test('the place of each value is that of the first one like it in the sorted values', () => {
  const value = fc.oneof(fc.constantFrom(0, 1, Infinity), fc.double({ noNaN: true }));
  fc.assert(
    fc.property(fc.array(value, { maxLength: 1000 }), (list) => {
      const values = Float64Array.from(list, (each) => each + 0);
      const sorted = values.slice().sort();
      expect([...placesOf(values, sorted)]).toEqual([...values].map((each) => sorted.indexOf(each)));
    }),
    { numRuns: 300 },
  );
});
