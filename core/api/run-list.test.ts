import { expect, test } from '@jest/globals';
import { listRuns } from './run-list.ts';
import { runSummary } from './testing/run-summary.ts';

const hour = (n: number) => `2026-11-21T0${n}:00:00.000Z`;
const RUNS = [
  runSummary({ run_id: 'a', start: hour(1), end: hour(2), scenario: 'chat', duration_seconds: 5 }),
  runSummary({ run_id: 'b', start: hour(3), end: hour(4), scenario: 'rag', system: null, duration_seconds: 7 }),
  runSummary({ run_id: 'c', start: hour(5), end: null, status: 'running', duration_seconds: null, numbers: null }),
];
const ids = (request: Parameters<typeof listRuns>[1]) => listRuns(RUNS, request).runs.map(({ run_id }) => run_id);

test('the newest first, and by number either way with unknown ones last', () => {
  expect(ids({})).toEqual(['c', 'b', 'a']);
  expect(ids({ sort: 'duration' })).toEqual(['a', 'b', 'c']);
  expect(ids({ sort: '-duration' })).toEqual(['b', 'a', 'c']);
});

test('members must all fit, their values are alternatives; the empty system is the unknown one', () => {
  expect(ids({ scenario: ['chat', 'rag'], status: ['completed'] })).toEqual(['b', 'a']);
  expect(ids({ system: [''] })).toEqual(['b']);
});

test('a run must contain every word', () => {
  expect(ids({ q: 'LLAMA rag' })).toEqual(['b']);
  expect(ids({ q: 'llama nothing' })).toEqual([]);
});

test('time: what touches it, a run that lasts included', () => {
  const at = (n: number) => Date.parse(hour(n));
  expect(ids({ from: at(2), to: at(3) })).toEqual(['b', 'a']);
  expect(ids({ from: at(7), to: at(8) })).toEqual(['c']);
});

test('pages', () => {
  expect(listRuns(RUNS, { page: 2, limit: 2 })).toMatchObject({ page: 2, limit: 2, total: 3 });
  expect(ids({ page: 2, limit: 2 })).toEqual(['a']);
  expect(ids({ page: 9 })).toEqual([]);
});

test('folded: a group is one row, where its first run is, and its runs are in its summary', () => {
  const step = (n: number, p50: number | null, change = {}) =>
    runSummary({
      ...{ run_id: `s${n}`, start: hour(n), group_id: 'g', step: n, load: `concurrency ${n}` },
      numbers: p50 === null ? null : numbersOf(p50),
      ...change,
    });
  const numbersOf = (p50: number) => {
    const { numbers } = runSummary();
    return {
      ...numbers,
      time_to_first_token_seconds: { ...numbers?.time_to_first_token_seconds, p50 },
      slos: p50 < 0.3 ? 'met' : 'not_met',
    } as NonNullable<typeof numbers>;
  };
  const runs = [
    ...RUNS,
    step(2, 0.1),
    step(6, 0.5),
    step(4, null, { status: 'failed' }),
    runSummary({ group_id: 'alone' }),
  ];
  const list = listRuns(runs, { fold: 'true', status: ['completed', 'failed'] });
  expect(list.runs.map(({ run_id }) => run_id)).toEqual(['a', 's6', 'b', 'a']);
  expect(list.total).toBe(4);
  expect(list.groups).toEqual([
    {
      group_id: 'g',
      runs: 3,
      loads: 3,
      first_load: 'concurrency 2',
      last_load: 'concurrency 6',
      statuses: { running: 0, completed: 2, aborted: 0, failed: 1 },
      slos: { met: 1, not_met: 1, undecided: 0 },
      verdict: null,
      ok_requests: 180,
      ranges: {
        error_ratio: [0.0909, 0.0909],
        time_to_first_token_p50: [0.1, 0.5],
        time_to_first_token_p99: [0.4, 0.4],
        inter_token_latency_p50: [0.02, 0.02],
        output_token_throughput: [288, 288],
      },
    },
  ]);
  expect(listRuns(runs, {}).groups).toBeUndefined();
});
