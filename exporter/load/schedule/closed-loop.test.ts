import { expect, jest, test } from '@jest/globals';
import { closedLoop } from './closed-loop.ts';
import { FakeGate } from '../testing/fake-gate.ts';

const PLAIN = {
  concurrencyRampSeconds: 0,
  prefillConcurrency: null,
  prefillConcurrencyRampSeconds: 0,
  arrivals: null,
};

test('all slots are due at the start, then each when its answer has ended', () => {
  const gate = new FakeGate();
  gate.now = 5;
  closedLoop({ ...PLAIN, concurrency: 3 }).start(gate);
  expect(gate.due).toEqual([5, 5, 5]);
  gate.end(1, 70);
  gate.end(0, 90);
  expect(gate.due).toEqual([5, 5, 5, 70, 90]);
});

test('a wait that the server requested moves the due time, also when the timer is early', () => {
  jest.useFakeTimers();
  const gate = new FakeGate();
  const schedule = closedLoop({ ...PLAIN, concurrency: 1 });
  schedule.start(gate);
  gate.now = 100;
  gate.end(0, 100, 2);
  gate.now = 2e9;
  jest.advanceTimersByTime(2000);
  expect(gate.due).toEqual([0]);
  gate.now = 2e9 + 100;
  jest.advanceTimersByTime(1);
  expect(gate.due).toEqual([0, 2e9 + 100]);
  gate.end(1, 3e9, 2);
  schedule.stop();
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

test('a ramp opens the slots evenly over its time, the last at its end', () => {
  jest.useFakeTimers();
  const gate = new FakeGate();
  closedLoop({ ...PLAIN, concurrency: 5, concurrencyRampSeconds: 2 }).start(gate);
  expect(gate.due).toEqual([0]);
  for (let ms = 250; ms <= 3000; ms += 250) {
    gate.now = ms * 1e6;
    jest.advanceTimersByTime(250);
  }
  expect(gate.due).toEqual([0, 5e8, 1e9, 1.5e9, 2e9]);
  jest.useRealTimers();
});

test('a slot that was opened keeps going while others are yet to open', () => {
  jest.useFakeTimers();
  const gate = new FakeGate();
  const schedule = closedLoop({ ...PLAIN, concurrency: 2, concurrencyRampSeconds: 1 });
  schedule.start(gate);
  gate.end(0, 10);
  expect(gate.due).toEqual([0, 10]);
  schedule.stop();
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

test('no more prefill at a time than allowed: the first chunk with content, or the end, makes room', () => {
  const gate = new FakeGate();
  closedLoop({ ...PLAIN, concurrency: 4, prefillConcurrency: 2 }).start(gate);
  expect(gate.due).toEqual([0, 0]);
  gate.first(0);
  expect(gate.due).toEqual([0, 0, 0]);
  // Failed without any content.
  gate.end(1, 60);
  expect(gate.due).toEqual([0, 0, 0, 0]);
  gate.first(2);
  // The slot of the second request waited for its turn and kept its due time.
  expect(gate.due).toEqual([0, 0, 0, 0, 60]);
  // Its prefill was over already: the end makes no room a second time.
  gate.end(0, 90);
  expect(gate.due).toHaveLength(5);
});
