import { expect, test } from '@jest/globals';
import { instantAt } from './run.ts';

test('wall time of a moment on the monotonic clock, to the millisecond', () => {
  expect(instantAt('2026-01-01T00:00:00.500Z', 1_750_000_000)).toBe('2026-01-01T00:00:02.250Z');
});

test('without a start nothing is known', () => {
  expect(instantAt(null, 0)).toBeNull();
});
