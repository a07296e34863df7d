import { describe, expect, test } from '@jest/globals';
import type { ClientHealth } from '../../../core/run/result.ts';
import type { LoadPlan } from '../schedule/load-plan.ts';
import { chooseWorkers as choose, type ChosenWorkers, withRemedy } from './choose-workers.ts';
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

const saturated: ClientHealth = {
  verdict: 'saturated',
  why: 'p99 event-loop delay 38 ms > 5 % of p50 inter-token latency 20 ms',
  event_loop_delay_p99_seconds: 0.038,
  event_loop_delay_max_seconds: 0.05,
  cpu_seconds: 9,
};

test.each([
  [1, 8, 'use --workers 2'],
  [2, 8, 'use --workers 4'],
  [4, 8, 'use --workers 7'],
  [7, 8, "7 workers are the limit of this machine's 8 cores: use a larger machine, or several with --shard"],
  [1, 2, "one worker is the limit of this machine's 2 cores: use a larger machine, or several with --shard"],
])('%i busy workers on %i cores: %s', (workers, cores, remedy) => {
  const health = { ...saturated, cpu_seconds: 9 * workers };
  expect(withRemedy(health, { workers, cores, seconds: 10 }).why).toBe(`${saturated.why}: ${remedy}`);
});

test.each([
  [1, 2, 20],
  [4, 19, 190],
])('%i workers that used %f s of 10 had to wait for others', (workers, cpu_seconds, percent) => {
  const { why } = withRemedy({ ...saturated, cpu_seconds }, { workers, cores: 8, seconds: 10 });
  expect(why).toContain(`it used only ${percent} % of a core, so other programs on this machine kept it waiting`);
  expect(why).not.toContain('--workers');
});

test('with unknown CPU time, more workers are not suggested', () => {
  for (const [cpu_seconds, seconds] of [
    [null, 10],
    [9, null],
  ] as const) {
    const { why } = withRemedy({ ...saturated, cpu_seconds }, { workers: 1, cores: 8, seconds });
    expect(why).toContain('its CPU time is not known');
    expect(why).not.toContain('--workers');
  }
});

test('a client that was fast enough requires no remedy', () => {
  const ok: ClientHealth = { ...saturated, verdict: 'ok', why: null };
  expect(withRemedy(ok, { workers: 1, cores: 8, seconds: 10 })).toBe(ok);
});
