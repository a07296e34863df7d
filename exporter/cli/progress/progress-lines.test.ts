import { describe, expect, test } from '@jest/globals';
import { progressLine, progressLines, sparkline, type ProgressState } from './progress-lines.ts';

const STATE: ProgressState = {
  phase: 'measure',
  plannedRequests: null,
  plannedSeconds: 60,
  elapsedSeconds: 15.2,
  done: 120,
  inFlight: 16,
  silentSeconds: 0.2,
  failures: new Map(),
  recentSeconds: 5,
  requestsPerSecond: 9.6,
  tokensPerSecond: 614.2,
  timeToFirstToken: { p50: 0.0843, p99: 0.5, trend: [null, 0.05, 0.1] },
  interTokenLatency: { p50: null, p99: null, trend: [null, null, null] },
  servers: null,
};

test('four lines on a terminal', () => {
  expect(progressLines(STATE)).toEqual([
    'measure  █████░░░░░░░░░░░░░░░ 120 requests · 0 failed · 16 in flight · 15 of 60 s · 45 s left',
    'last 5 s  9.60 requests/s · 614 tokens/s',
    'TTFT     p50 84.3 ms  p99 500 ms    ▅█',
    'ITL      p50 –        p99 –',
  ]);
});

test('on 80 columns nothing that matters is cut off', () => {
  const servers = { running: 256, waiting: 1200, kvCacheUsage: 0.9871 };
  const state = { ...STATE, plannedRequests: 10_000, done: 4321, inFlight: 512, requestsPerSecond: 123, servers };
  const lines = progressLines({ ...state, tokensPerSecond: 456_789 }, 79);
  expect(lines.slice(0, 3)).toEqual([
    'measure  ███░░░░░ 4,321 of 10,000 requests · 0 failed · 512 in flight · 15 of 60 s · 20 s left',
    'last 5 s  123 requests/s · 456,789 tokens/s',
    'server   256 running, 1,200 waiting, KV cache 98.7 %',
  ]);
  // What is cut off there is the time.
  expect(lines[0]?.slice(0, 79)).toContain('512 in flight');
});

test('one line elsewhere, with the same numbers and nothing drawn', () => {
  expect(progressLine(STATE)).toBe(
    'measure 120 requests · 15 of 60 s · 45 s left · 16 in flight · 0 failed · last 5 s: 9.60 requests/s · ' +
      '614 tokens/s · TTFT p50 84.3 ms p99 500 ms · ITL p50 – p99 –',
  );
});

describe('time left', () => {
  const left = (change: Partial<ProgressState>): string => progressLine({ ...STATE, ...change }).split(' · ')[2] ?? '';

  test.each([
    // 100 requests took 20 s, 200 are left.
    [{ plannedSeconds: null, plannedRequests: 300, done: 100, elapsedSeconds: 20 }, '40 s left'],
    // Whichever ends first.
    [{ plannedSeconds: 30, plannedRequests: 300, done: 100, elapsedSeconds: 20 }, '10 s left'],
    [{ plannedSeconds: 3600, elapsedSeconds: 60 }, '59 min left'],
    [{ plannedSeconds: 36_000, elapsedSeconds: 0 }, '10.0 h left'],
    [{ plannedSeconds: 60, elapsedSeconds: 61 }, 'finishing'],
    // Nothing is known before a request has ended.
    [{ plannedSeconds: null, plannedRequests: 300, done: 0 }, '16 in flight'],
  ])('%j: %s', (change, expected) => {
    expect(left(change)).toBe(expected);
  });
});

test('a silence is shown with its length', () => {
  const silent = { ...STATE, silentSeconds: 75.2 };
  expect(progressLines(silent)[0]).toContain('16 in flight, no response for 76 s');
  expect(progressLine(silent)).toContain('16 in flight, no response for 76 s');
});

test('failures are named, the most frequent first', () => {
  const failures = new Map(Object.entries({ reset: 1, http_5xx: 7, idle_timeout: 2, no_finish: 1 }));
  expect(progressLine({ ...STATE, failures })).toContain('11 failed (http_5xx 7, idle_timeout 2, reset 1, …)');
});

test('the line shows the state of the servers; values that they do not report are absent, not 0', () => {
  const servers = { running: 16, waiting: 3, kvCacheUsage: null };
  expect(progressLines({ ...STATE, servers })[1]).toBe(
    'last 5 s  9.60 requests/s · 614 tokens/s · server 16 running, 3 waiting, KV cache –',
  );
});

test('tokens that are not reported are absent', () => {
  expect(progressLines({ ...STATE, tokensPerSecond: null })[1]).toContain('– tokens/s');
});

test.each([
  [[0, 1, 2, 3, 4, 5, 6, 7], '▁▂▃▄▅▆▇█'],
  // Scaled from 0: a steady value is not made to look like a wave.
  [[20, 20.2, 19.9], '███'],
  [[null, 5, null, 10], ' ▅ █'],
  [[0, 0], '▁▁'],
  [[], ''],
])('%j is "%s"', (values, expected) => {
  expect(sparkline(values)).toBe(expected);
});
