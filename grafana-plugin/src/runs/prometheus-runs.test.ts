import { runQueries, runsOfSeries } from './prometheus-runs.ts';

const NOW_MS = Date.parse('2026-11-21T10:01:00Z');
const seconds = (text: string) => Date.parse(text) / 1000;
const one = (refId: string, labels: Record<string, string>, value: number) => ({
  refId,
  labels,
  times: [NOW_MS],
  values: [value],
});

test('a finished run: facts from the labels, numbers from the published results, nothing made up', () => {
  const [run] = runsOfSeries(
    [
      one('info', { run_id: 'a', scenario: 'chat', model: 'm', load: 'concurrency 4', system: '', step: '2' }, 1),
      one('phase_start', { run_id: 'a', phase: 'measure' }, seconds('2026-11-21T10:00:00Z')),
      one('phase_end', { run_id: 'a', phase: 'measure' }, seconds('2026-11-21T10:00:30Z')),
      one('requests', { run_id: 'a', measure: 'requests', stat: 'ok' }, 120),
      one('seconds', { run_id: 'a', measure: 'time_to_first_token', stat: 'p50' }, 0.05),
      one('seconds', { run_id: 'a', measure: 'time_to_first_token', stat: 'p99' }, 0.2),
    ],
    NOW_MS
  );
  expect(run).toMatchObject({
    run_id: 'a',
    status: 'completed',
    system: null,
    step: 2,
    start: '2026-11-21T10:00:00.000Z',
    duration_seconds: 30,
    progress: null,
  });
  expect(run?.numbers).toMatchObject({
    requests: { ok: 120, error: null },
    time_to_first_token_seconds: { p50: 0.05, p99: 0.2, mean: null },
    inter_token_latency_seconds: null,
    request_throughput: null,
    client_verdict: 'unknown',
  });
});

test('a run in progress: its phase and elapsed time', () => {
  const [run] = runsOfSeries(
    [
      one('info', { run_id: 'b' }, 1),
      one('phase_start', { run_id: 'b', phase: 'measure' }, seconds('2026-11-21T10:00:20Z')),
      one('active', { run_id: 'b', phase: 'measure' }, 1),
      one('done', { run_id: 'b' }, 40),
      one('failed', { run_id: 'b' }, 2),
      one('tokens', { run_id: 'b' }, 640),
      one('planned_seconds', { run_id: 'b' }, 60),
    ],
    NOW_MS
  );
  expect(run).toMatchObject({ status: 'running', end: null, duration_seconds: null });
  expect(run?.progress).toMatchObject({
    phase: 'measure',
    requests_done: 40,
    requests_failed: 2,
    output_tokens: 640,
    requests_planned: null,
    elapsed_seconds: 40,
    planned_seconds: 60,
  });
});

test('without phases in Prometheus the start is that of the label, or is read from the run id; other ids have none', () => {
  const [own, foreign, imported] = runsOfSeries(
    [
      one('info', { run_id: '20261121T095900Z-abcdefghi0' }, 1),
      one('info', { run_id: 'nightly' }, 1),
      one('info', { run_id: 'imported-1', start: '2026-11-03T10:15:00Z' }, 1),
    ],
    NOW_MS
  );
  expect(imported?.start).toBe('2026-11-03T10:15:00.000Z');
  expect(own?.start).toBe('2026-11-21T09:59:00.000Z');
  expect(foreign?.start).toBeNull();
});

test('every query is restricted to the run, for any id', () => {
  for (const { expr } of runQueries(60, 'a"b')) {
    expect(expr).toContain('run_id="a\\"b"');
  }
});
