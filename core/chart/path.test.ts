import { expect, test } from '@jest/globals';
import { barsPath, diamondPath, pathOf, type ChartPoint } from './path.ts';

const POINTS: readonly ChartPoint[] = [
  [0, 1],
  [10, 2.04],
  [20, null],
  [30, 4],
  [40, NaN],
  [50, 5],
  [60, 6],
];

test('lines and steps break where a value is missing, and a point alone is a dot', () => {
  expect(pathOf(POINTS)).toBe('M0,1L10,2M30,4h0M50,5L60,6');
  expect(pathOf(POINTS, 'step')).toBe('M0,1H10V2M30,4h0M50,5H60V6');
  expect(pathOf(POINTS, 'points')).toBe('M0,1h0M10,2h0M30,4h0M50,5h0M60,6h0');
});

test('an empty series draws nothing', () => {
  expect([pathOf([[0, null]]), pathOf([]), barsPath([{ from: 0, to: 1, y: 9 }], 9)]).toEqual(['', '', '']);
});

test('bars stand on their base', () => {
  const columns = [
    { from: 1, to: 2, y: 3 },
    { from: 2, to: 3, y: 10 },
  ];
  expect(barsPath(columns, 10)).toBe('M1,10V3H2V10z');
});

test('a diamond is around its point', () => {
  expect(diamondPath(10, 20, 5)).toBe('M10,15L15,20L10,25L5,20z');
});
