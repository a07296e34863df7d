import { expect, test } from '@jest/globals';
import { withinBudget } from './series-budget.ts';

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
