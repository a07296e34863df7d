import { linearScale } from '../../../core/chart/scale.ts';
import { seriesPath } from './XyChart.tsx';
import { secondsText } from './time-text.ts';
import { extentOf, nearestIndex, valueAt, type XySeries } from './xy-series.ts';

const series = (kind: XySeries['kind'], y: Array<number | null> = [1, 3, null, 2]): XySeries => ({
  name: 's',
  color: 'red',
  kind,
  x: [0, 10, 20, 30],
  y,
});
const x = linearScale([0, 30], [0, 300]);
const y = linearScale([0, 10], [100, 0]);

test('the extent leaves gaps and infinities out', () => {
  expect(extentOf([null, 3, Infinity, -1])).toEqual({ low: -1, high: 3 });
  expect(extentOf([null])).toBeNull();
});

test.each([
  [-5, 0],
  [4, 0],
  [6, 1],
  [29, 3],
  [99, 3],
])('nearest to %i', (at, index) => {
  expect(nearestIndex([0, 10, 20, 30], at)).toBe(index);
});

test('a step has the value of the last point before, a line that of the nearest; outside there is none', () => {
  expect(valueAt(series('step'), 9)).toBe(1);
  expect(valueAt(series('line'), 9)).toBe(3);
  expect(valueAt(series('line'), 19)).toBeNull();
  expect(valueAt(series('line'), 31)).toBeNull();
});

test('paths: lines and steps break at gaps, points are dots', () => {
  expect(seriesPath(series('line'), x, y)).toBe('M0,90L100,70M300,80h0');
  expect(seriesPath(series('step'), x, y)).toBe('M0,90H100V70M300,80h0');
  expect(seriesPath(series('points'), x, y)).toBe('M0,90h0M100,70h0M300,80h0');
});

test.each([
  [0, '0 s'],
  [2.5, '2.5 s'],
  [-3, '−3 s'],
  [65, '1:05'],
  [3725, '1:02:05'],
])('%d seconds', (seconds, text) => {
  expect(secondsText(seconds)).toBe(text);
});
