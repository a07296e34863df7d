import { expect, test } from '@jest/globals';
import { spreadLists } from './value-lists.ts';

test.each([
  ['--m a b --x 1', '--m a --m b --x 1'],
  ['--m a', '--m a'],
  ['--m a --m b c', '--m a --m b --m c'],
  ['--x a b', '--x a b'],
  ['--m=a b', '--m=a b'],
  ['--m', '--m'],
  ['--m --x', '--m --x'],
  ['', ''],
])('%s', (given, expected) => {
  const words = (text: string): string[] => text.split(' ').filter((word) => word !== '');
  expect(spreadLists(words(given), ['--m'])).toEqual(words(expected));
});
