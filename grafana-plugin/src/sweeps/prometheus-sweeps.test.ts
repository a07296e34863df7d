import type { PrometheusSeries } from '../prometheus/query-prometheus.ts';
import { sweepPage, sweepsOfSeries, sweepWithRun } from './prometheus-sweeps.ts';

const START_SECONDS = 1_800_000_000;

const one = (refId: string, labels: Record<string, string>, value = 1): PrometheusSeries => ({
  refId,
  labels,
  times: [0],
  values: [value],
});

/** A finished run as `llmbench serve` exposes it. */
function run(runId: string, minute: number, labels: Record<string, string>, status = 'completed'): PrometheusSeries[] {
  const start = START_SECONDS + 60 * minute;
  const figure = (refId: string, measure: string, stat: string, value: number) =>
    one(refId, { run_id: runId, measure, stat }, value);
  return [
    one('info', { run_id: runId, scenario: 'chat', model: 'llama', system: 'vllm', tool: 'llmbench', ...labels }),
    one('outcome', { run_id: runId, status, dataset: `ISL 128, OSL 16, entries ${minute}` }),
    one('phase_start', { run_id: runId, phase: 'measure' }, start),
    one('phase_end', { run_id: runId, phase: 'measure' }, start + 30),
    figure('requests', 'requests', 'ok', 100),
    figure('figure_seconds', 'time_to_first_token', 'p99', 0.1 * minute),
    figure('figure_seconds', 'inter_token_latency', 'p99', 0.02),
    figure('figure_tokens_per_second', 'output_token_throughput', 'value', 50 * minute),
  ];
}

const swept = (prefix: string, group: string, change: Record<string, string> = {}) => [
  ...run(`${prefix}-2`, 2, { load: 'concurrency 4', group_id: group, ...change }),
  ...run(`${prefix}-1`, 1, { load: 'concurrency 1', group_id: group, ...change }),
];

test('runs of a group with different loads are a sweep, by ascending load', () => {
  const [sweep, ...others] = sweepsOfSeries(swept('a', 'night'), 0);
  expect(others).toEqual([]);
  expect(sweep).toMatchObject({
    source: { kind: 'group', name: 'night' },
    scenario: 'chat',
    model: 'llama',
    dataset: 'ISL 128, OSL 16',
    load_mode: 'concurrency',
    gpus: null,
    within_objective: null,
  });
  const values = sweep?.steps.map(({ load, runs, values: { time_to_first_token_p99, output_token_throughput } }) => [
    load,
    runs.map(({ run_id }) => run_id),
    time_to_first_token_p99?.mean,
    output_token_throughput?.mean,
  ]);
  expect(values).toEqual([
    [1, ['a-1'], 0.1, 50],
    [4, ['a-2'], 0.2, 100],
  ]);
  expect(sweep?.steps[0]?.values.tokens_per_second_per_user_p99?.mean).toBe(50);
});

test('a figure that Prometheus does not have is missing, not zero', () => {
  const [sweep] = sweepsOfSeries(swept('a', 'night'), 0);
  expect(sweep?.steps[0]?.values.request_throughput).toBeNull();
  expect(sweep?.steps[0]?.requests).toEqual({ ok: 100, error: null, timeout: null, cancelled: null });
});

test('runs of different systems, arrival patterns or scenarios are not joined', () => {
  const rate = (value: number, pattern: string) => ({ load: `request_rate ${value} ${pattern}`, group_id: '' });
  const series = [
    ...run('a', 1, { load: 'concurrency 1', group_id: '' }),
    ...run('b', 2, { load: 'concurrency 2', group_id: '', system: 'sglang' }),
    ...run('c', 3, rate(1, 'poisson')),
    ...run('d', 4, rate(2, 'constant')),
    ...run('e', 5, { load: 'concurrency 2', group_id: '', scenario: 'other' }),
  ];
  expect(sweepsOfSeries(series, 0)).toEqual([]);
});

test('runs that are not finished, or whose load is not one number, belong to no sweep', () => {
  const running = swept('a', 'night').filter(({ refId, labels }) => refId !== 'outcome' || labels['run_id'] !== 'a-1');
  expect(sweepsOfSeries(running, 0)).toEqual([]);
  expect(sweepsOfSeries(swept('a', 'night', { load: 'trace' }), 0)).toEqual([]);
});

test('an aborted run is a step without values', () => {
  const series = [...swept('a', 'night'), ...run('a-3', 3, { load: 'concurrency 8', group_id: 'night' }, 'aborted')];
  const step = sweepsOfSeries(series, 0)[0]?.steps.at(-1);
  expect(step?.runs).toMatchObject([{ run_id: 'a-3', status: 'aborted' }]);
  expect(step?.values.output_token_throughput).toBeNull();
});

test('a sweep is found by any of its runs, and has the id of the oldest', () => {
  const sweeps = sweepsOfSeries([...swept('a', 'night'), ...swept('b', 'day')], 0);
  // Newest first; of those that began together, by ID.
  expect(sweepPage(sweeps).sweeps).toMatchObject([
    { sweep_id: 'b-1', loads: [1, 4], runs: 2, has_objectives: false },
    { sweep_id: 'a-1', loads: [1, 4], runs: 2, has_objectives: false },
  ]);
  expect(sweepWithRun(sweeps, 'b-2')?.source.name).toBe('day');
  expect(sweepWithRun(sweeps, 'c')).toBeNull();
});
