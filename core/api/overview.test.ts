import { expect, test } from '@jest/globals';
import { overviewOf, runHistories } from './overview.ts';
import { oldestFirst } from '../run/run-id.ts';
import { runSummary } from './testing/run-summary.ts';
import type { ListedScenario } from './scenarios.ts';

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

test('the newest completed run of each scenario; of a sweep with its group, and of what ran before nothing', () => {
  const step = (hour: number) =>
    at(hour, { scenario: 'curve', group_id: 'g', step: hour, load: `concurrency ${hour}` });
  const runs = [
    at(8, { status: 'failed', numbers: null }),
    step(7),
    step(6),
    at(5),
    at(4),
    at(9, { status: 'running', scenario: 'soak', numbers: null }),
  ].sort((a, b) => oldestFirst(b, a));
  const { latest, running, runs: count } = overviewOf(runs, [], 20);
  expect(count).toEqual({ finished: 5, running: 1 });
  expect(running.map(({ run_id }) => run_id)).toEqual(['r9']);
  expect(latest.map(({ run }) => run.run_id)).toEqual(['r7', 'r5']);
  expect(latest[0]?.group).toMatchObject({
    runs: 2,
    loads: 2,
    first_load: 'concurrency 6',
    last_load: 'concurrency 7',
  });
  expect(latest[1]).toMatchObject({ group: null, history: { output_token_throughput: [288, 288] } });
  expect(overviewOf(runs, [], 1).latest).toHaveLength(1);
});

const scenario = (name: string, change: object) =>
  ({ scenario: name, open_regression: null, state: 'ok', overdue: null, verdict: null, ...change }) as ListedScenario;

test('what needs attention: open regressions, suspicions, overdue and undecided scenarios, then known regressions', () => {
  const { attention, attention_total, scenarios } = overviewOf(
    [],
    [
      scenario('known', { state: 'regressed', open_regression: { acknowledged: { at: 'x' } } }),
      scenario('fine', { verdict: { verdict: 'unchanged' } }),
      scenario('undecided', { verdict: { verdict: 'undecided' } }),
      scenario('overdue', { overdue: true }),
      scenario('suspect', { state: 'suspect' }),
      scenario('worse', { state: 'regressed', open_regression: { acknowledged: null } }),
    ],
    4,
  );
  expect(attention.map(({ scenario: name }) => name)).toEqual(['worse', 'suspect', 'overdue', 'undecided']);
  expect({ attention_total, scenarios }).toEqual({ attention_total: 5, scenarios: 6 });
});
