import { expect, test } from '@jest/globals';
import { changePoints } from './scenario-history.ts';
import { figure, ONE, run, runsOf } from './testing/runs.ts';

/** Within ±1 %, without order. */
const NOISE = Array.from({ length: 60 }, (_, i) => 1 + (((i * 37) % 21) - 10) / 1000);
const levels = (...of: readonly (readonly [level: number, runs: number])[]): number[] =>
  of.flatMap(([level, runs], k) => NOISE.slice(k, k + runs).map((noise) => level * noise));

test('a slowdown is dated to its first run, with its size and sureness', () => {
  const [found, ...rest] = changePoints(runsOf('r', levels([1, 20], [1.2, 20])), { rules: ONE });
  expect(rest).toEqual([]);
  expect(found).toMatchObject({
    measure: 'time_to_first_token',
    stat: 'p50',
    run_id: 'r20',
    previous_run_id: 'r19',
    worse: true,
    p: 0.001,
    runs: { before: 20, after: 20 },
  });
  expect(found?.ratio).toBeCloseTo(1.2, 2);
});

test('a change below the margin is none, however sure', () => {
  expect(changePoints(runsOf('r', levels([1, 30], [1.03, 30])), { rules: ONE })).toEqual([]);
});

test('less throughput is worse', () => {
  const runs = levels([100, 15], [80, 15]).map((value, i) => run(`r${i}`, [figure('goodput', 'value', value)], i));
  const rules = { ...ONE, primary: [{ measure: 'goodput', stat: 'value' as const }] };
  const [found] = changePoints(runs, { rules });
  expect(found).toMatchObject({ run_id: 'r15', worse: true });
  expect(found?.ratio).toBeCloseTo(0.8, 2);
});

test('the runs are ordered by their start', () => {
  const runs = [...runsOf('r', levels([1, 20], [1.2, 20]))].reverse();
  expect(changePoints(runs, { rules: ONE })).toMatchObject([{ run_id: 'r20' }]);
});

test('all figures only when wanted', () => {
  const runs = runsOf('r', levels([1, 20], [1.2, 20]));
  expect(changePoints(runs, { rules: ONE, all: true })).toHaveLength(5);
});
