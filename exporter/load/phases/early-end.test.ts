import { expect, test } from '@jest/globals';
import { EARLY_END_CELLS, EarlyEnd } from './early-end.ts';

test('consecutive errors are counted over all users of the memory; one success resets the count', () => {
  const cells = new Int32Array(new SharedArrayBuffer(4 * EARLY_END_CELLS));
  const reported: (number | null)[] = [];
  const [one, other] = [new EarlyEnd(cells, (grace) => reported.push(grace)), new EarlyEnd(cells)];
  expect([one.failed(), other.failed(), one.failed()]).toEqual([1, 2, 3]);
  other.succeeded();
  expect(one.failed()).toBe(1);
  expect(other.declared).toBe(false);
  one.declare(30);
  expect([other.declared, reported]).toEqual([true, [30]]);
  new EarlyEnd(cells).clear();
  expect([one.declared, one.failed()]).toEqual([false, 1]);
});
