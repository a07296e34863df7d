import { expect, test } from '@jest/globals';
import { readOptions } from './options.ts';
import { scenarioName } from './scenario-option.ts';

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
