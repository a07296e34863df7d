import { expect, test } from '@jest/globals';
import { studentT, studentTTail } from './student-t.ts';

test.each([
  // Tables of the distribution (Fisher and Yates), two-sided.
  [0.95, 1, 12.7062],
  [0.95, 2, 4.3027],
  [0.95, 3, 3.1824],
  [0.95, 4, 2.7764],
  [0.95, 5, 2.5706],
  [0.95, 9, 2.2622],
  [0.95, 10, 2.2281],
  [0.95, 30, 2.0423],
  [0.95, 120, 1.9799],
  [0.99, 2, 9.9248],
  [0.99, 7, 3.4995],
  [0.5, 1, 1],
  [0.9, 6, 1.9432],
])('%d of the distribution with %d degrees of freedom lies within ±%d', (confidence, degrees, t) => {
  expect(studentT(confidence, degrees)).toBeCloseTo(t, 4);
});

test.each([
  [0, 3],
  [1, 3],
  [0.95, 0],
  [0.95, 2.5],
])('refuses %d, %d', (confidence, degrees) => expect(() => studentT(confidence, degrees)).toThrow(RangeError));

// scipy 1.17.1: stats.t.sf(t, degrees)
test.each([
  [2, 4, 0.05805826175840778],
  [-1.3, 7, 0.8826160823038114],
  [4.5, 18, 0.00013849969675349883],
  [0.1, 1, 0.4682744825694465],
])('P(T > %d) with %d degrees of freedom', (t, degrees, p) => expect(studentTTail(t, degrees)).toBeCloseTo(p, 12));
