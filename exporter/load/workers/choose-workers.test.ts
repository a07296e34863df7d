import { describe, expect, test } from '@jest/globals';
import type { LoadPlan } from '../schedule/load-plan.ts';
import { chooseWorkers as choose, type ChosenWorkers } from './choose-workers.ts';
import { WHOLE, type Share } from './share.ts';

const LIMITS = { concurrencyRampSeconds: 0, prefillConcurrency: null, prefillConcurrencyRampSeconds: 0 };
const closed = (concurrency: number): LoadPlan => ({ ...LIMITS, concurrency, arrivals: null });
const open = (requestRate: number, concurrency: number | null = null): LoadPlan => ({
  ...LIMITS,
  concurrency,
  arrivals: { kind: 'rate', requestRate, pattern: 'poisson', smoothness: 1, rampSeconds: 0, seed: 0 },
});
const chooseWorkers = (
  requested: number | null,
  loads: readonly LoadPlan[],
  cores: number,
  shard: Share,
): ChosenWorkers => choose(requested, loads, 128, cores, shard);

describe('requested', () => {
  test('as many as requested, but none without a slot', () => {
    expect(chooseWorkers(3, [closed(8)], 2, WHOLE)).toEqual({ workers: 3, line: null });
    expect(chooseWorkers(4, [closed(2)], 8, WHOLE)).toMatchObject({ workers: 2 });
    expect(chooseWorkers(4, [closed(2)], 8, WHOLE).line).toContain('2 of 4 requested');
    expect(chooseWorkers(4, [closed(64), { ...closed(64), prefillConcurrency: 1 }], 8, WHOLE).workers).toBe(1);
    expect(chooseWorkers(4, [open(10)], 8, WHOLE)).toEqual({ workers: 4, line: null });
  });

  test('of a shard: the slots that the shard has', () => {
    expect(chooseWorkers(4, [closed(6)], 8, { part: 2, parts: 4 }).workers).toBe(1);
  });
});

describe('not requested', () => {
  test('one thread for a usual load, and nothing is reported', () => {
    expect(chooseWorkers(null, [closed(1024)], 16, WHOLE)).toEqual({ workers: 1, line: null });
    expect(chooseWorkers(null, [open(100)], 16, WHOLE)).toEqual({ workers: 1, line: null });
  });

  test('one for each 1,024 streams, but a core is left', () => {
    expect(chooseWorkers(null, [closed(8), closed(4000)], 16, WHOLE).workers).toBe(4);
    expect(chooseWorkers(null, [closed(4000)], 16, WHOLE).line).toContain('workers: 4');
    expect(chooseWorkers(null, [closed(4000)], 3, WHOLE).workers).toBe(2);
    expect(chooseWorkers(null, [closed(4000)], 2, WHOLE).workers).toBe(1);
    expect(chooseWorkers(null, [closed(4000)], 1, WHOLE).workers).toBe(1);
  });

  test('at a rate: by the requests that begin, and by the streams that are likely', () => {
    // 2,000 a second of 128 tokens at 20 ms each: 5,120 streams, unless fewer are allowed.
    expect(chooseWorkers(null, [open(2000)], 16, WHOLE).workers).toBe(5);
    expect(chooseWorkers(null, [open(2000, 100)], 16, WHOLE).workers).toBe(2);
  });

  test('of four shards each takes its part', () => {
    expect(chooseWorkers(null, [closed(8192)], 16, { part: 1, parts: 4 }).workers).toBe(2);
  });
});
