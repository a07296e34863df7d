import { expect, test } from '@jest/globals';
import { OutputBudget } from './shared-counters.ts';

test('a request in flight counts with its maximum, a completed one with what it generated', () => {
  const budget = new OutputBudget(100);
  expect([budget.reserve(60), budget.reserve(41), budget.reserve(40)]).toEqual([true, false, true]);
  budget.settle(60, 10);
  expect([budget.reserve(51), budget.reserve(50)]).toEqual([false, true]);
  budget.settle(40, null);
  expect(budget.reserve(1)).toBe(false);
});

test('two users of one memory share one budget', () => {
  const committed = new BigInt64Array(new SharedArrayBuffer(8));
  const [one, other] = [new OutputBudget(100, committed), new OutputBudget(100, committed)];
  expect([one.reserve(70), other.reserve(31), other.reserve(30), one.reserve(1)]).toEqual([true, false, true, false]);
  other.settle(30, 29);
  expect(one.reserve(1)).toBe(true);
});
