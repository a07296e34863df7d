import { expect, test } from '@jest/globals';
import { things } from './things.ts';

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
