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
