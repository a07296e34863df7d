import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { FakeClock } from '../testing/fake-clock.ts';
import { FakeGate } from '../testing/fake-gate.ts';
import type { StagePlan } from './load-plan.ts';
import { SharedSlots } from '../shared-counters.ts';
import { StagedLoop } from './staged-loop.ts';
import { WHOLE } from '../workers/share.ts';

const SECOND = 1e9;
const c = (concurrency: number, seconds: number): StagePlan => ({ kind: 'concurrency', concurrency, seconds });
const rate = (requestRate: number, seconds: number): StagePlan => ({
  ...{ kind: 'rate', from: requestRate, to: requestRate, seconds },
});

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

function started(stages: readonly StagePlan[], { share = WHOLE, slots = new SharedSlots() } = {}) {
  const gate = new FakeGate();
  const clock = new FakeClock(gate);
  const load = {
    ...{ concurrency: null, concurrencyRampSeconds: 0, prefillConcurrency: null, prefillConcurrencyRampSeconds: 0 },
    arrivals: { kind: 'stages', stages, pattern: 'constant', smoothness: 1, seed: 0 },
  } as const;
  const isRated = stages.some(({ kind }) => kind === 'rate');
  const schedule = new StagedLoop(load, isRated ? clock : null, { share, shard: WHOLE, slots });
  schedule.start(gate, 0);
  /** Time passes in milliseconds, so that timers and arrivals come in their order. */
  const to = (seconds: number): void => {
    while (gate.now < seconds * SECOND) {
      clock.to(gate.now + 1e6);
      jest.advanceTimersByTime(1);
    }
  };
  return { gate, schedule, to, slots };
}

const dueSeconds = (gate: FakeGate): number[] => gate.due.map((due) => Number((due / SECOND).toFixed(6)));

test('a higher concurrency adds what is missing to the requests in flight', () => {
  const { gate, to } = started([c(2, 1), c(3, 1)]);
  to(0.5);
  gate.end(0, 0.5 * SECOND);
  to(1.1);
  // Two slots, one refilled, and one more from the second stage on.
  expect(dueSeconds(gate)).toEqual([0, 0, 0.5, 1]);
});

test('a lower concurrency sends nothing until enough requests have ended', () => {
  const { gate, to } = started([c(3, 1), c(1, 1)]);
  to(1.2);
  expect(gate.due).toHaveLength(3);
  gate.end(0, 1.2 * SECOND);
  gate.end(1, 1.2 * SECOND);
  expect(gate.due).toHaveLength(3);
  to(1.3);
  gate.end(2, 1.3 * SECOND);
  expect(dueSeconds(gate)).toEqual([0, 0, 0, 1.3]);
});

test('requests in flight of a stage with a rate count against the concurrency after it', () => {
  const { gate, to } = started([rate(2, 1), c(3, 1)]);
  to(1.1);
  expect(dueSeconds(gate)).toEqual([0, 0.5, 1]);
  gate.end(0, 1.1 * SECOND);
  expect(dueSeconds(gate)).toEqual([0, 0.5, 1, 1.1]);
});

test('a stage with a rate sends at its times, and ends of earlier requests add none', () => {
  const { gate, to } = started([c(2, 1), rate(4, 1)]);
  to(1.3);
  gate.end(0, 1.3 * SECOND);
  to(2.5);
  expect(dueSeconds(gate)).toEqual([0, 0, 1, 1.25, 1.5, 1.75]);
});

test('a request belongs to the stage in which it is due; the edge belongs to the next one', () => {
  const { schedule } = started([c(2, 1), rate(4, 1), c(1, 0.5)]);
  const stages = [0, 0.999_999_999, 1, 1.999_999_999, 2, 2.4, 9].map((at) => schedule.stageOf(at * SECOND));
  expect(stages).toEqual([1, 1, 2, 2, 3, 3, 3]);
});

test('it is over at the end of the last stage, and not before its late arrivals are sent', () => {
  const gate = new FakeGate();
  const late = started([rate(4, 1)]);
  jest.advanceTimersByTime(0);
  late.gate.now = 1.5 * SECOND;
  jest.advanceTimersByTime(2000);
  expect([late.gate.finished, late.gate.due.length]).toEqual([false, 0]);
  late.to(1.6);
  expect([late.gate.finished, late.gate.due.length]).toEqual([true, 4]);
  expect(gate.finished).toBe(false);
});

test('a slot that ends after the last stage is not filled again', () => {
  const { gate, to } = started([c(1, 1)]);
  to(1.1);
  gate.end(0, 1.05 * SECOND);
  expect([gate.due.length, gate.finished]).toEqual([1, true]);
});

test('Retry-After keeps the slot of a concurrency occupied', () => {
  const { gate, to } = started([c(1, 5)]);
  to(0.5);
  gate.end(0, 0.5 * SECOND, 2);
  to(2.4);
  expect(gate.due).toHaveLength(1);
  to(2.6);
  expect(dueSeconds(gate)).toEqual([0, 2.5]);
});

describe('two threads', () => {
  test('together they keep the concurrency, also when one has more requests of the stage before', () => {
    const slots = new SharedSlots();
    const [one, other] = [0, 1].map((part) => started([c(4, 1), c(2, 1)], { share: { part, parts: 2 }, slots })) as [
      ReturnType<typeof started>,
      ReturnType<typeof started>,
    ];
    one.to(1.1);
    other.to(1.1);
    expect([one.gate.due.length, other.gate.due.length]).toEqual([2, 2]);
    one.gate.end(0, 1.1 * SECOND);
    one.gate.end(1, 1.1 * SECOND);
    expect(one.gate.due).toHaveLength(2);
    other.gate.end(0, 1.1 * SECOND);
    expect(other.gate.due).toHaveLength(3);
  });

  test('together they send each arrival once', () => {
    const all = [0, 1, 2].flatMap((part) => {
      const { gate, to } = started([rate(5, 1), rate(10, 1)], { share: { part, parts: 3 } });
      to(2.1);
      return dueSeconds(gate);
    });
    expect(all.sort((a, b) => a - b)).toEqual([
      ...[0, 0.2, 0.4, 0.6, 0.8],
      ...[1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9],
    ]);
  });
});
