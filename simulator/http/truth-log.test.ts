import { expect, test } from '@jest/globals';

import { MonotonicClock } from './engine-driver.ts';
import { TruthLog, TruthRecord } from './truth-log.ts';

interface Truth {
  readonly dropped_requests: number;
  readonly dropped_tokens: number;
  readonly requests: readonly { readonly id: string }[];
}

const clock = new MonotonicClock();

function filled(limits: { requests: number; tokens: number }): TruthLog {
  const log = new TruthLog(limits);
  for (let i = 0; i < 10; i++)
    log.add(new TruthRecord({ id: `r${i}`, arrival_ns: i, promptTokens: 1, outputTokens: 5 }));
  return log;
}

function read(log: TruthLog, id: string | null = null): Truth {
  return JSON.parse([...log.json(clock, id)].join('')) as Truth;
}

test.each([
  ['requests', { requests: 3, tokens: 1000 }, ['r7', 'r8', 'r9']],
  ['tokens', { requests: 1000, tokens: 12 }, ['r8', 'r9']],
])('the oldest are dropped when there are too many %s, and are counted', (_what, limits, left) => {
  const truth = read(filled(limits));
  expect(truth.requests.map((request) => request.id)).toEqual(left);
  expect(truth.dropped_requests).toBe(10 - left.length);
  expect(truth.dropped_tokens).toBe(5 * (10 - left.length));
});

test('one request can be requested', () => {
  const log = filled({ requests: 1000, tokens: 1000 });
  expect(read(log, 'r4').requests).toMatchObject([
    { id: 'r4', arrival: Number(clock.origin_ns) + 4, due: [], written: [] },
  ]);
  expect(read(log, 'unknown').requests).toEqual([]);
});

test('times are those of CLOCK_MONOTONIC', () => {
  const before = process.hrtime.bigint();
  const now = clock.absolute_ns(clock.now_ns());
  expect(BigInt(now)).toBeGreaterThanOrEqual(before);
  expect(BigInt(now)).toBeLessThanOrEqual(process.hrtime.bigint());
});
