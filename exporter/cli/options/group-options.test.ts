import { describe, expect, test } from '@jest/globals';
import { scenarioName, TAGS } from './group-options.ts';
import { readOptions } from './options.ts';

describe('a scenario', () => {
  const read = (...argv: readonly string[]) =>
    readOptions({ scenario: scenarioName('name', 'default') }, argv, {}).scenario;

  test('a name may have any characters of a line', () => {
    expect(read()).toBe('default');
    expect(read('--scenario', 'chat, 8 users / Überlast')).toBe('chat, 8 users / Überlast');
  });

  const BIDIRECTIONAL = ['\u202e', '\u202a', '\u2066', '\u2069', '\u200f', '\u061c'].map((mark) => `a${mark}b`);

  test.each(['', '  ', 'a\nb', 'a\u001bb', 'x'.repeat(201), ...BIDIRECTIONAL])('%j is refused', (name) => {
    expect(() => read('--scenario', name)).toThrow('and must be a name of 1 to 200 characters on one line');
  });
});

describe('tags', () => {
  const read = (...argv: readonly string[]) => readOptions({ tag: TAGS }, argv, {}).tag;

  test('tags are sorted, each once', () => {
    expect(read()).toEqual([]);
    expect(read('--tag', 'b', '--tag', 'a', '--tag', 'b')).toEqual(['a', 'b']);
  });

  test.each(['', 'a b', 'x'.repeat(65), 'a/b'])('%j is refused', (tag) => {
    expect(() => read('--tag', tag)).toThrow('and must be 1 to 64 characters of');
  });
});
