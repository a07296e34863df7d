import { expect, test } from '@jest/globals';

import { readPrompt } from './prompt.ts';

const user = (text: string) => [{ role: 'user', text }];

test('a token is a word or a punctuation mark, and four stand around each message', () => {
  expect(readPrompt(user('Hello, who are you?'), 16).tokens).toBe(4 + 6);
  expect(readPrompt([...user(''), ...user('über naïve_2')], 16).tokens).toBe(4 + 4 + 2);
});

test('one hash per full block, equal for equal texts', () => {
  const text = (last: string) => user(`a b c d e f g h ${last}`);
  const one = readPrompt(text('i'), 4);
  const other = readPrompt(text('j'), 4);
  expect(one.tokens).toBe(13);
  expect(one.blockHashes).toHaveLength(3);
  expect(new Set(one.blockHashes).size).toBe(3);
  expect(other.blockHashes).toEqual(one.blockHashes);
});

test('a change changes the hash of its block and of all that follow', () => {
  const one = readPrompt(user('a b c d e f g h'), 4).blockHashes;
  const other = readPrompt(user('a b c d X f g h'), 4).blockHashes;
  expect(other.slice(0, 2)).toEqual(one.slice(0, 2));
  expect(other[2]).not.toBe(one[2]);
  expect(readPrompt(user('ab c d e f g h i'), 4).blockHashes[1]).not.toBe(one[1]);
});
