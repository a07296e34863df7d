import { describe, expect, test } from '@jest/globals';
import type { LoadPlan } from '../schedule/load-plan.ts';
import { EARLY_END_CELLS, EarlyEnd, judgedRequests } from './early-end.ts';

const LIMITS = { concurrencyRampSeconds: 0, prefillConcurrency: null, prefillConcurrencyRampSeconds: 0 };
const closed = (concurrency: number): LoadPlan => ({ ...LIMITS, concurrency, arrivals: null });
const rated = (requestRate: number, concurrency: number | null): LoadPlan => ({
  ...{ ...LIMITS, concurrency },
  arrivals: { kind: 'rate', requestRate, pattern: 'poisson', smoothness: 1, rampSeconds: 0, seed: 0 },
});

test.each([
  [closed(1), 1, 50],
  [closed(1500), 1, 1500],
  [closed(1500), 4, 375],
  [rated(5, null), 1, 50],
  [rated(400, null), 1, 400],
  [rated(100, 700), 1, 700],
])('%j in %d shards: %d requests are judged', (load, shards, judged) => {
  expect(judgedRequests(load, shards)).toBe(judged);
});

test('errors are counted over all users of the memory', () => {
  const cells = new Int32Array(new SharedArrayBuffer(4 * EARLY_END_CELLS));
  const reported: (number | null)[] = [];
  const [one, other] = [new EarlyEnd(cells, (grace) => reported.push(grace)), new EarlyEnd(cells)];
  const limit = { limit: { errors: 3 }, judged: 50 };
  expect([one.failed(0, limit), other.failed(1, limit), one.failed(2, limit)]).toEqual([null, null, '3 errors']);
  expect(other.declared).toBe(false);
  one.declare(30);
  expect([other.declared, reported]).toEqual([true, [30]]);
  new EarlyEnd(cells).clear();
  expect([one.declared, one.failed(0, limit)]).toEqual([false, null]);
});

describe('a share', () => {
  const limit = { limit: { share: 0.9 }, judged: 10 };

  /** Sends requests one after another, and lets those at the given positions fail in the given order. */
  function reached(sent: number, failures: readonly number[]): string | null {
    const end = new EarlyEnd();
    for (let i = 0; i < sent; i++) expect(end.sent(limit)).toBe(i);
    return failures.map((position) => end.failed(position, limit)).find((each) => each !== null) ?? null;
  }
  const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

  test('of requests sent one after another', () => {
    expect(reached(10, range(0, 8))).toBeNull();
    expect(reached(10, range(0, 9))).toBe('9 of 10 requests failed');
    expect(reached(20, range(11, 20))).toBe('9 of 10 requests failed');
  });

  test('as many errors among more requests', () => {
    expect(reached(40, [...range(0, 8), ...range(10, 18), ...range(20, 28), ...range(30, 38)])).toBeNull();
  });

  test('no limit', () => {
    const end = new EarlyEnd();
    const none = { limit: null, judged: 10 };
    expect(range(0, 100).map(() => end.failed(end.sent(none), none))).toEqual(Array(100).fill(null));
  });

  test('of a window long ago says nothing about a later one that uses its cell', () => {
    const end = new EarlyEnd();
    const old = range(0, 10).map(() => end.sent(limit));
    for (let i = 10; i < 10 * 65; i++) end.sent(limit);
    expect(old.map((position) => end.failed(position, limit))).toEqual(Array(10).fill(null));
    expect(end.failed(640, limit)).toBeNull();
  });
});
