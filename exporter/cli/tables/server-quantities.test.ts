import { expect, test } from '@jest/globals';
import { inUnit } from './server-quantities.ts';

test('seconds and ratios are scaled; what has no unit has none; what is absent is no 0', () => {
  expect(inUnit(0.0123, 'seconds')).toBe('12.3 ms');
  expect(inUnit(0.5, 'ratio')).toBe('50 %');
  expect(inUnit(7, 'count')).toBe('7');
  expect(inUnit(7, null)).toBe('7');
  expect(inUnit(null, 'requests')).toBe('–');
});
