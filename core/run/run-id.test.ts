import { describe, expect, test } from '@jest/globals';
import { createRunId, isRunId } from './run-id.ts';

describe('createRunId', () => {
  test('start in UTC and ten characters', () => {
    expect(createRunId(new Date('2026-03-04T05:06:07.891Z'), 'abcdefghi0')).toBe('20260304T050607Z-abcdefghi0');
  });

  test('random suffixes differ, and every character of the set comes up', () => {
    const ids = Array.from({ length: 200 }, () => createRunId(new Date('2026-03-04T05:06:07Z')));
    for (const id of ids) expect(id).toMatch(/^20260304T050607Z-[a-z0-9]{10}$/);
    expect(new Set(ids).size).toBe(200);
    // 2,000 characters out of 36: that one of them is missing has a probability below 1e-22.
    expect(new Set(ids.map((id) => id.slice(-10)).join('')).size).toBe(36);
  });

  test.each([['short'], ['ABCDEFGHIJ'], ['abcdefghi/'], ['abcdefghijk']])('refuses the suffix %p', (suffix) => {
    expect(() => createRunId(new Date(0), suffix)).toThrow(RangeError);
  });
});

describe('isRunId', () => {
  test.each([['a'], ['20260304T050607Z-abcdefghi0'], ['x'.repeat(64)], ['-']])('%p is one', (text) => {
    expect(isRunId(text)).toBe(true);
  });

  test.each([[''], ['x'.repeat(65)], ['..'], ['a/b'], ['a b'], ['a_b'], ['ä'], ['a\n']])('%p is none', (text) => {
    expect(isRunId(text)).toBe(false);
  });
});
