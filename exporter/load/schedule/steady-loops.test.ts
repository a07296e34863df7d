import { expect, jest, test, afterEach, beforeEach, describe } from '@jest/globals';
import { FakeClock } from '../testing/fake-clock.ts';
import { FakeGate } from '../testing/fake-gate.ts';
import type { OpenLoad } from './load-plan.ts';
import { closedLoop, openLoop } from './steady-loops.ts';

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

const NO_LIMIT: Omit<OpenLoad, 'arrivals'> = {
  concurrency: null,
  concurrencyRampSeconds: 0,
  prefillConcurrency: null,
  prefillConcurrencyRampSeconds: 0,
};
/** The first arrival comes 5 ms after the start, when the clock is asleep. */
const LEAD = 5e6;

function started(plan: Partial<OpenLoad>, offsets_ns: readonly number[], count: number | null = null) {
  const gate = new FakeGate();
  const clock = new FakeClock(gate);
  const schedule = openLoop({ ...NO_LIMIT, ...plan }, { offsets_ns: offsets_ns.values(), count }, clock);
  schedule.start(gate);
  return { gate, clock, schedule };
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('without a limit', () => {
  test('each request is due at its time, whether or not the one before has ended', () => {
    const { gate, clock } = started({}, [0, 10e6, 10e6, 40e6]);
    clock.to(LEAD - 1);
    expect(gate.due).toEqual([]);
    clock.to(LEAD);
    expect(gate.due).toEqual([LEAD]);
    clock.to(LEAD + 20e6);
    expect(gate.due).toEqual([LEAD, LEAD + 10e6, LEAD + 10e6]);
    clock.to(1e9);
    expect(gate.due).toEqual([LEAD, LEAD + 10e6, LEAD + 10e6, LEAD + 40e6]);
  });

  test('a client that was late keeps the due times', () => {
    const { gate, clock } = started({}, [0, 1e6, 2e6]);
    clock.to(1e9);
    expect(gate.due).toEqual([LEAD, LEAD + 1e6, LEAD + 2e6]);
  });

  test('no more arrivals than requests of the plan', () => {
    const { gate, clock } = started({}, [0, 1, 2, 3, 4], 3);
    clock.to(1e9);
    expect(gate.due).toHaveLength(3);
    expect(clock.pending).toBe(false);
  });
});

describe('limited by a concurrency', () => {
  test('who finds no slot waits, keeps the due time and goes in order', () => {
    const { gate, clock, schedule } = started({ concurrency: 2 }, [0, 1e6, 2e6, 3e6]);
    clock.to(LEAD + 3e6);
    expect(gate.due).toEqual([LEAD, LEAD + 1e6]);
    expect(schedule.unsent).toBe(2);
    gate.end(0, LEAD + 50e6);
    gate.end(1, LEAD + 60e6);
    expect(gate.due).toEqual([LEAD, LEAD + 1e6, LEAD + 2e6, LEAD + 3e6]);
    expect(schedule.unsent).toBe(0);
  });

  test('requests that were due and never sent are counted', () => {
    const { gate, clock, schedule } = started({ concurrency: 1 }, [0, 1e6, 2e6, 900e6]);
    clock.to(LEAD + 500e6);
    schedule.stop();
    gate.left = 0;
    gate.end(0, LEAD + 600e6);
    clock.to(LEAD + 1e9);
    expect(gate.due).toHaveLength(1);
    expect(schedule.unsent).toBe(2);
  });

  test('a wait that the server requested keeps the slot', () => {
    const { gate, clock } = started({ concurrency: 1 }, [0, 1e6]);
    clock.to(LEAD + 1e6);
    gate.end(0, LEAD + 2e6, 3);
    clock.to(LEAD + 2e9);
    jest.advanceTimersByTime(2000);
    expect(gate.due).toHaveLength(1);
    clock.to(LEAD + 3e9 + 1e6);
    jest.advanceTimersByTime(1001);
    expect(gate.due).toEqual([LEAD, LEAD + 1e6]);
  });

  test('a ramp opens the slots one after the other', () => {
    const { gate, clock } = started({ concurrency: 3, concurrencyRampSeconds: 1 }, [0, 0, 0]);
    clock.to(LEAD);
    expect(gate.due).toHaveLength(1);
    for (const [ms, slots] of [
      [500, 2],
      [1000, 3],
    ] as const) {
      gate.now = ms * 1e6;
      jest.advanceTimersByTime(500);
      expect(gate.due).toHaveLength(slots);
    }
  });
});

test('limited prefill: the first chunk with content makes room for the next', () => {
  const { gate, clock } = started({ prefillConcurrency: 1 }, [0, 0, 0]);
  clock.to(LEAD);
  expect(gate.due).toHaveLength(1);
  gate.first(0);
  expect(gate.due).toHaveLength(2);
  gate.end(0, LEAD + 1);
  expect(gate.due).toHaveLength(2);
  gate.end(1, LEAD + 2);
  expect(gate.due).toHaveLength(3);
});

test('stopping ends the clock and every timer', () => {
  const { clock, schedule } = started({ concurrency: 3, concurrencyRampSeconds: 60 }, [0]);
  schedule.stop();
  expect(clock.stopped).toBe(true);
  expect(jest.getTimerCount()).toBe(0);
});
