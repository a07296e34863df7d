import type { RunAnswer } from '../../exporter-api/types.ts';
import { runSummary } from '../../../test/run-summary.ts';
import { changeRatio, type CompareRow } from './compare-rows.ts';
import { configurationDifferences } from './differences.ts';
import { rollingMedian } from './rolling-median.ts';

const row = (change: Partial<CompareRow>): CompareRow => ({
  name: 'x',
  unit: 'seconds',
  values: [2, 3],
  alike: true,
  ...change,
});

test('a difference is relative to the first run', () => {
  expect(changeRatio(row({}), 1)).toBe(0.5);
  expect(changeRatio(row({}), 0)).toBeNull();
});

test.each([
  ['measured by different definitions', { alike: false }],
  ['missing', { values: [2, null] }],
  ['missing in the first', { values: [null, 2] }],
  ['to be divided by zero', { values: [0, 2] }],
  ['a ratio of itself', { unit: 'ratio' as const }],
])('no difference of what is %s', (_name, change) => {
  expect(changeRatio(row(change), 1)).toBeNull();
});

test('only what differs, with what is unknown as such', () => {
  const answer = (concurrency: number | null) =>
    ({
      run: { comparison_key: { model: 'm', load: { concurrency } }, target: { origin: 'http://x' } },
      summary: runSummary(),
    }) as unknown as RunAnswer;
  expect(configurationDifferences([answer(4), answer(null)])).toEqual([
    { name: 'load.concurrency', texts: ['4', '–'] },
  ]);
});

test('the median of each stretch, a stretch without points is a gap', () => {
  expect(rollingMedian([0, 1, 2, 9, 10], [5, 1, 3, 7, 9], 2)).toEqual({ x: [2.5, 7.5], y: [3, 8] });
  expect(rollingMedian([0, 10], [1, 2], 3).y).toEqual([1, null, 2]);
  expect(rollingMedian([], [], 3)).toEqual({ x: [], y: [] });
});
