import { expect, test } from '@jest/globals';
import { aligned } from './layout.ts';

const paint = (cell: string): string => (cell === 'ok' ? `<${cell}>` : cell);

test('the first column is aligned left, the others right; the longest cell determines the width', () => {
  expect(
    aligned([
      ['a', 'load', 'n'],
      ['long', '1', '12'],
    ]),
  ).toEqual(['a     load   n', 'long     1  12']);
});

test('only cells below the head are painted, and paint has no width', () => {
  expect(
    aligned(
      [
        ['name', 'ok'],
        ['x', 'ok'],
        ['y', 'failed'],
      ],
      paint,
    ),
  ).toEqual(['name      ok', 'x         <ok>', 'y     failed']);
});
