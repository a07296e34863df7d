import { expect, test } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Pauses } from './pauses.ts';
import { openSlots } from './slot-ramp.ts';

test('many slots open over several turns of the event loop, between which answers are read, all due at once', async () => {
  const now_ns = (): number => Math.round(performance.now() * 1e6);
  const start_ns = now_ns();
  const due: number[] = [];
  openSlots(100, 0, start_ns, new Pauses(now_ns), now_ns, (at_ns) => due.push(at_ns));
  expect(due.length).toBeLessThan(100);
  let turns = 0;
  for (; due.length < 100; turns++) await nextTurn();
  expect(turns).toBeGreaterThan(1);
  expect(new Set(due)).toEqual(new Set([start_ns]));
});

test('slots that have not opened yet stay closed after a stop', async () => {
  const pauses = new Pauses(() => 0);
  let opened = 0;
  openSlots(
    100,
    0,
    0,
    pauses,
    () => 0,
    () => opened++,
  );
  const before = opened;
  pauses.stop();
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  expect(opened).toBe(before);
});
