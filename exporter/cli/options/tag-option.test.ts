import { expect, test } from '@jest/globals';
import { readOptions } from './options.ts';
import { TAGS } from './tag-option.ts';

const read = (...argv: readonly string[]) => readOptions({ tag: TAGS }, argv, {}).tag;

test('tags are sorted, each once', () => {
  expect(read()).toEqual([]);
  expect(read('--tag', 'b', '--tag', 'a', '--tag', 'b')).toEqual(['a', 'b']);
});

test.each(['', 'a b', 'x'.repeat(65), 'a/b'])('%j is refused', (tag) => {
  expect(() => read('--tag', tag)).toThrow('and must be 1 to 64 characters of');
});
