import { runSummary } from '../../../../core/api/testing/run-summary.ts';
import { shareDone } from './LiveRuns.tsx';
import { runHistories } from './run-histories.ts';

const at = (hour: number, change = {}) =>
  runSummary({ run_id: `r${hour}`, start: `2026-11-21T0${hour}:00:00.000Z`, ...change });

test('a history holds the runs of the same scenario, fingerprint and system up to this one, in the order of time', () => {
  const runs = [
    at(5, { duration_seconds: 50 }),
    at(3, { duration_seconds: 30 }),
    at(4, { duration_seconds: 40, fingerprint: 'other' }),
    at(6, { duration_seconds: 60, scenario: 'rag' }),
    at(7, { duration_seconds: 70, system: 'sglang' }),
    at(8, { duration_seconds: 80 }),
    at(2, { duration_seconds: null }),
    at(1, { duration_seconds: 10, status: 'aborted' }),
  ];
  const history = runHistories(runs);
  expect(history(at(5), 'duration')).toEqual([null, 30, 50]);
  expect(history(at(8), 'duration')).toEqual([null, 30, 50, 80]);
  expect(history(at(7, { system: 'sglang' }), 'duration')).toEqual([70]);
  expect(history(at(3), 'duration')).toEqual([null, 30]);
  expect(history(at(9), 'duration')).toEqual([]);
});

const progress = {
  phase: 'measure' as const,
  requests_done: 30,
  requests_planned: null,
  elapsed_seconds: 5,
  planned_seconds: null,
};

test.each([
  ['by number', { requests_planned: 60 }, 0.5],
  ['by time', { planned_seconds: 20 }, 0.25],
  ['by whichever ends it', { requests_planned: 60, planned_seconds: 8 }, 0.625],
  ['never above all of it', { planned_seconds: 4 }, 1],
  ['unknown without an end', {}, null],
])('how much is done: %s', (_name, change, expected) => {
  expect(shareDone({ ...progress, ...change })).toBe(expected);
});
