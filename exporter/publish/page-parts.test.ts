import { expect, test } from '@jest/globals';
import { resultFile, runFile } from './fixtures/run.ts';
import { readResults, withinBudget } from './page-parts.ts';
import type { RunReader } from './run-reader.ts';

test('what is kept of a run holds no more memory than its text', async () => {
  const source: Pick<RunReader, 'readRun' | 'readResult'> = {
    readRun: () => Promise.resolve(runFile({})),
    readResult: () => Promise.resolve(resultFile({})),
  };
  const { families } = await readResults(source as RunReader, 'r', 'all');
  const bytes = families.reduce((sum, { lines }) => sum + lines.length, 0);
  const held = new Set(families.map(({ lines }) => lines.buffer));
  expect(bytes).toBeGreaterThan(0);
  expect([...held].reduce((sum, { byteLength }) => sum + byteLength, 0)).toBe(bytes);
});

const parts = [
  { key: 'a', series: 5 },
  { key: 'b', series: 6 },
  { key: 'c', series: 5 },
];
const keys = (found: readonly { readonly key: string }[]): string => found.map(({ key }) => key).join('');

test.each([
  [16, 'abc', ''],
  [15, 'ab', 'c'],
  [10, 'ac', 'b'],
  [4, '', 'abc'],
])('%d series hold %p and not %p', (maxSeries, shown, dropped) => {
  const found = withinBudget(parts, maxSeries);
  expect([keys(found.shown), keys(found.dropped)]).toEqual([shown, dropped]);
});
