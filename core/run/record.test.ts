import { expect, test } from '@jest/globals';
import { countOf } from './record.ts';

const counts = { ok: 7, error: 2, timeout: null, cancelled: 0 };

test('known counts are added up', () => expect(countOf(counts, ['ok', 'error', 'cancelled'])).toBe(9));

test('with an unknown one the sum is unknown, not the sum of the others', () =>
  expect(countOf(counts, ['error', 'timeout'])).toBeNull());
