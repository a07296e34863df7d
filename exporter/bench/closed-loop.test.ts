import { expect, jest, test } from '@jest/globals';
import { closedLoop } from './closed-loop.ts';
import type { Gate } from './schedule.ts';

type Closed = (end_ns: number, retryAfterSeconds: number | null) => void;

class FakeGate implements Gate {
  now = 0;
  readonly due: number[] = [];
  readonly closed: Closed[] = [];
  left = Infinity;

  now_ns(): number {
    return this.now;
  }

  send(due_ns: number, closed: Closed): boolean {
    if (this.left-- <= 0) return false;
    this.due.push(due_ns);
    this.closed.push(closed);
    return true;
  }
}

test('all slots are due at the start, then each when its answer has ended', () => {
  const gate = new FakeGate();
  gate.now = 5;
  closedLoop(3).start(gate);
  expect(gate.due).toEqual([5, 5, 5]);
  gate.closed[1]?.(70, null);
  gate.closed[0]?.(90, null);
  expect(gate.due).toEqual([5, 5, 5, 70, 90]);
});

test('a wait that the server asked for moves the due time, also when the timer is early', () => {
  jest.useFakeTimers();
  const gate = new FakeGate();
  const schedule = closedLoop(1);
  schedule.start(gate);
  gate.now = 100;
  gate.closed[0]?.(100, 2);
  gate.now = 2e9;
  jest.advanceTimersByTime(2000);
  expect(gate.due).toEqual([0]);
  gate.now = 2e9 + 100;
  jest.advanceTimersByTime(1);
  expect(gate.due).toEqual([0, 2e9 + 100]);
  gate.closed[1]?.(3e9, 2);
  schedule.stop();
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});
