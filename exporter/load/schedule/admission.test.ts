import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { until } from '../../../core/testing/until.ts';
import { FakeGate } from '../testing/fake-gate.ts';
import { Admission, openPrefill, openSlots } from './admission.ts';
import { Pauses } from './schedule.ts';

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

const MS = 1e6;

/** As many requests as wanted wait to be sent. */
function admission(gate: FakeGate, waiting: number): Admission {
  const admitted = new Admission(gate, { requests: Infinity, prefills: 0 });
  for (let i = 0; i < waiting; i++) admitted.offer(i, () => undefined);
  return admitted;
}

test('prefill, without a ramp: the whole limit applies at once', () => {
  const gate = new FakeGate();
  const admitted = admission(gate, 10);
  expect(gate.due).toEqual([]);
  const pauses = new Pauses(() => gate.now);
  openPrefill(admitted, { prefillConcurrency: 3, prefillConcurrencyRampSeconds: 0 }, 5 * MS, pauses, () => gate.now);
  expect(gate.due).toEqual([0, 1, 2]);
  gate.first(1);
  expect(gate.due).toEqual([0, 1, 2, 3]);
});

test('prefill, no limit: nothing waits', () => {
  const gate = new FakeGate();
  const admitted = new Admission(gate, { requests: Infinity, prefills: Infinity });
  admitted.offer(0, () => undefined);
  expect(gate.due).toEqual([0]);
});

test('prefill, with a ramp: the limit grows from one to the whole', async () => {
  const gate = new FakeGate();
  const admitted = admission(gate, 10);
  const pauses = new Pauses(() => gate.now);
  const plan = { prefillConcurrency: 3, prefillConcurrencyRampSeconds: 0.02 };
  openPrefill(admitted, plan, 0, pauses, () => gate.now);
  expect(gate.due).toEqual([0]);
  // The second opens in the middle of the ramp, the third at its end.
  gate.now = 10 * MS;
  await until(() => gate.due.length >= 2);
  expect(gate.due).toEqual([0, 1]);
  gate.now = 20 * MS;
  await until(() => gate.due.length >= 3);
  expect(gate.due).toEqual([0, 1, 2]);
  pauses.stop();
});
