import type { ScenarioResponse } from '../../../../core/api/scenarios.ts';
import { nearestPoint, trendOf, versionMarks } from './trend-points.ts';

type Run = ScenarioResponse['runs'][number];

const KEY = {
  ...{ measure: 'time_to_first_token', stat: 'p50', unit: 'seconds', definition: 'd', origin: 'client' },
  ...{ population: 'ok', clock: 'sent', direction: 'lower' },
} as const;

function run(id: string, value: Run['values'][number], more: Partial<Run> = {}): Run {
  return {
    ...{ run_id: id, start: '2026-01-01T00:00:00Z', end: '2026-01-01T00:01:00Z', fingerprint: 'f', model: 'm' },
    ...{ system: 'vllm', system_version: '1', tool: 'llmbench', tool_version: '0', tags: [], verdict: null },
    ...{ accepted: false, pinned: false, values: [value] },
    ...more,
  };
}

const exact = (value: number) => ({ value, ci95: [value - 0.5, value + 0.5], n: 10 }) as Run['values'][number];

/** `runs` newest first, as the exporter sends them. */
function scenario(runs: Run[], used: string[] = [], change_points: unknown[] = []): ScenarioResponse {
  return {
    runs,
    measures: [{ ...KEY, margin: 0.05 }],
    baseline: { used },
    change_points,
  } as unknown as ScenarioResponse;
}

test('runs are placed from the oldest to the newest; a run without a value keeps its place', () => {
  const { points } = trendOf(scenario([run('c', exact(3)), run('b', null), run('a', exact(1))]), 0);
  expect(points.map(({ place, run: { run_id }, low, high }) => [place, run_id, low, high])).toEqual([
    [0, 'a', 1, 1],
    [2, 'c', 3, 3],
  ]);
  expect(points[0]?.interval).toEqual([0.5, 1.5]);
});

test('a value from buckets has two bounds; an unknown bound is no point', () => {
  const { points } = trendOf(
    scenario([run('b', { value: [1, null], ci95: null, n: 5 }), run('a', { value: [1, 2], ci95: [null, 3], n: null })]),
    0
  );
  expect(points).toMatchObject([{ low: 1, high: 2, interval: null, n: null }]);
});

test('the baseline is the range of the runs with which a check compares', () => {
  const runs = Array.from({ length: 25 }, (_, i) => run(`r${i}`, exact(i), { accepted: true })).reverse();
  const used = Array.from({ length: 20 }, (_, i) => `r${4 + i}`);
  expect(trendOf(scenario(runs, used), 0).baseline).toEqual({ low: 4, high: 23, runs: 20 });
  expect(trendOf(scenario(runs), 0).baseline).toBeNull();
});

test('the anchor is the range of the pinned runs', () => {
  const runs = [run('c', exact(9)), run('b', exact(2), { pinned: true }), run('a', exact(1), { pinned: true })];
  expect(trendOf(scenario(runs), 0).anchor).toEqual({ low: 1, high: 2, runs: 2 });
});

test('change points of this measure stand at the first run of the new level', () => {
  const change = { ...KEY, run_id: 'b', previous_run_id: 'a', ratio: 1.3, worse: true };
  const other = { ...change, stat: 'p90' };
  const runs = [run('b', exact(2)), run('a', exact(1))];
  expect(trendOf(scenario(runs, [], [change, other]), 0).changes).toEqual([{ place: 1, kind: 'worse', text: '+30 %' }]);
  expect(trendOf(scenario(runs, [], [{ ...change, ratio: 0.955, worse: false }]), 0).changes).toEqual([
    { place: 1, kind: 'better', text: '−4.5 %' },
  ]);
});

test('a new version of the engine and a new configuration are marked', () => {
  const runs = [
    run('d', null, { system_version: '2', fingerprint: 'g' }),
    run('c', null, { system_version: '2' }),
    run('b', null),
    run('a', null),
  ];
  expect(versionMarks(runs, { configuration: 'new configuration' })).toEqual([
    { place: 2, kind: 'version', text: 'vllm 2' },
    { place: 3, kind: 'version', text: 'new configuration' },
  ]);
});

test('the point nearest to the pointer', () => {
  const { points } = trendOf(scenario([run('c', exact(3)), run('b', null), run('a', exact(1))]), 0);
  expect(nearestPoint(points, 0.9)?.run.run_id).toBe('a');
  expect(nearestPoint(points, 1.2)?.run.run_id).toBe('c');
  expect(nearestPoint([], 1)).toBeNull();
});
