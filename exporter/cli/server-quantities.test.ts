import { expect, test } from '@jest/globals';
import { counted, inUnit } from './server-quantities.ts';

test.each([
  [1, 'requests', '1 request'],
  [2, 'requests', '2 requests'],
  [0, 'tokens', '0 tokens'],
  [1, 'batches', '1 batch'],
  [1, 'entries', '1 entry'],
  [1, 'passes', '1 pass'],
  [1, 'leases', '1 lease'],
  [1, 'celsius', '1 celsius'],
  [0.1 + 0.2 + 2.7, 'requests', '3 requests'],
  [1.5, 'requests', '1.50 requests'],
])('%d %s: %s', (value, unit, text) => {
  expect(counted(value, unit)).toBe(text);
});

test('seconds and ratios are scaled; what has no unit has none; what is absent is no 0', () => {
  expect(inUnit(0.0123, 'seconds')).toBe('12.3 ms');
  expect(inUnit(0.5, 'ratio')).toBe('50 %');
  expect(inUnit(7, 'count')).toBe('7');
  expect(inUnit(7, null)).toBe('7');
  expect(inUnit(null, 'requests')).toBe('–');
});
