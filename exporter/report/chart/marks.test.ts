import { expect, test } from '@jest/globals';
import { bars, dots, line } from './marks.ts';

test('a line has a gap where a value is missing, and a single point is a dot', () => {
  const path = line(
    [
      [0, 1],
      [10, 2.04],
      [20, null],
      [30, 4],
      [40, null],
      [50, 5],
      [60, 6],
    ],
    'c1',
  ).text;
  expect(path).toBe('<path class="line c1" d="M0,1L10,2M30,4h0M50,5L60,6" />');
});

test('an empty series draws nothing', () => {
  expect([line([[0, null]], 'c1').text, dots([], 'c1').text, bars([{ from: 0, to: 1, y: 9 }], 9, 'c1').text]).toEqual([
    '',
    '',
    '',
  ]);
});

test('bars stand on their base', () => {
  expect(
    bars(
      [
        { from: 1, to: 2, y: 3 },
        { from: 2, to: 3, y: 10 },
      ],
      10,
      'c3',
    ).text,
  ).toBe('<path class="bars c3" d="M1,10V3H2V10z" />');
});
