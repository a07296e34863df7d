import { createTheme } from '@grafana/data';
import { SWEEP_FIGURES, type SweepFigure } from '../../../../core/sweeps/sweep-figures.ts';
import type { StoredSweep } from '../../../../core/api/sweeps.ts';
import {
  efficiency,
  goodputCurves,
  gpusOfSweep,
  latencyCurves,
  limitsOf,
  preselected,
  shownSweeps,
  throughputCurves,
} from './chart-curves.ts';
import type { SweepSettings } from './settings.ts';
import { isFew } from './SweepSteps.tsx';

type Step = StoredSweep['steps'][number];

const SETTINGS: SweepSettings = {
  throughput: 'output_token_throughput',
  latency: 'time_to_first_token',
  percentile: 'p99',
  gpus: null,
};

function step(load: number, figures: Partial<Record<SweepFigure, number>>, slos: Step['slos'] = []): Step {
  const values = Object.fromEntries(
    SWEEP_FIGURES.map((name) => {
      const value = figures[name];
      return [name, value === undefined ? null : { n: 1, mean: value, min: value, max: value }];
    })
  ) as Step['values'];
  const requests = { ok: 100, error: 0, timeout: 0, cancelled: 0 };
  return { load, objective: null, requests, runs: [], slos, values };
}

function sweep(id: string, steps: Step[], more: Partial<StoredSweep> = {}): StoredSweep {
  return {
    ...{ sweep_id: id, source: { kind: 'group', name: id }, scenario: 'capacity', model: 'm', dataset: null },
    ...{ system: 'vllm', system_version: null, endpoint_type: 'chat', tool: 'llmbench', tool_version: null },
    ...{ origin: null, load_mode: 'concurrency', start: null, end: null, gpus: null, goodput_limits: [] },
    ...{ knee: null, within_objective: null, steps },
    ...more,
  };
}

const shown = (...sweeps: StoredSweep[]) => shownSweeps(sweeps, createTheme());
const points = ({ points: all }: { points: ReadonlyArray<{ x: number; y: number }> }) => all.map(({ x, y }) => [x, y]);

test('sweeps have the name of what differs, and a color of their own', () => {
  const [a, b] = shown(sweep('a', []), sweep('b', [], { system: 'sglang' }));
  expect([a?.name, b?.name]).toEqual(['vllm', 'sglang']);
  expect(a?.color).not.toBe(b?.color);
});

test('throughput and the chosen percentile; a sweep without both has no curve', () => {
  const full = sweep('a', [
    step(1, { output_token_throughput: 100, time_to_first_token_p99: 0.1, time_to_first_token_p50: 0.05 }),
    step(2, { output_token_throughput: 180 }),
  ]);
  const curves = latencyCurves(shown(full, sweep('b', [step(1, { request_throughput: 5 })])), SETTINGS);
  expect(curves.map(points)).toEqual([[[100, 0.1]]]);
  expect(latencyCurves(shown(full), { ...SETTINGS, percentile: 'p50' }).map(points)).toEqual([[[100, 0.05]]]);
});

test('limits: the objectives of the drawn percentile and the limits of good requests, each once', () => {
  const slo = (stat: 'p50' | 'p99', limit: number): Step['slos'][number] => ({
    ...{ measure: 'time_to_first_token', stat, comparison: '<=', limit, unit: 'seconds' },
    ...{ met: 1, not_met: 0, undecided: 0 },
  });
  const steps = [step(1, {}, [slo('p99', 0.5), slo('p50', 0.2)]), step(2, {}, [slo('p99', 0.5)])];
  const good = [
    { measure: 'time_to_first_token', limit: 1, unit: 'seconds' as const },
    { measure: 'inter_token_latency', limit: 0.05, unit: 'seconds' as const },
  ];
  const all = shown(sweep('a', steps, { goodput_limits: good }), sweep('b', steps));
  expect(limitsOf(all, SETTINGS)).toEqual([
    { value: 0.5, text: 'TTFT p99 ≤ 500 ms' },
    { value: 1, text: 'TTFT ≤ 1 s' },
  ]);
  expect(limitsOf(all, { ...SETTINGS, latency: 'request_latency' })).toEqual([]);
});

test('the GPUs that the server reported count before those that were entered', () => {
  expect(gpusOfSweep({ gpus: 4 }, { gpus: 8 })).toBe(4);
  expect(gpusOfSweep({ gpus: null }, { gpus: 8 })).toBe(8);
  expect(gpusOfSweep({ gpus: null }, { gpus: null })).toBeNull();
});

test('efficiency: per GPU, the frontier over all sweeps, and the sweeps without a number of GPUs', () => {
  const steps = (throughput: number) => [
    step(1, { output_token_throughput: throughput, tokens_per_second_per_user_p99: 100 }),
    step(8, { output_token_throughput: 4 * throughput, tokens_per_second_per_user_p99: 50 }),
  ];
  const all = shown(
    sweep('slow', steps(400), { gpus: 4 }),
    sweep('fast', steps(800), { gpus: 4, system: 'sglang' }),
    sweep('unknown', steps(4000), { system: 'trtllm' })
  );
  const found = efficiency(all, SETTINGS);
  expect(found.curves.map(points)).toEqual([
    [
      [100, 100],
      [50, 400],
    ],
    [
      [100, 200],
      [50, 800],
    ],
  ]);
  expect(points({ points: found.frontier })).toEqual([
    [50, 800],
    [100, 200],
  ]);
  expect(found.withoutGpus.map(({ sweep: { sweep_id } }) => sweep_id)).toEqual(['unknown']);
  expect(efficiency(all, { ...SETTINGS, gpus: 2 }).curves).toHaveLength(3);
});

test('requests/s have no tokens/s per GPU: output tokens/s are drawn', () => {
  const one = sweep('a', [step(1, { output_token_throughput: 400, tokens_per_second_per_user_p99: 100 })], { gpus: 2 });
  const { curves } = efficiency(shown(one), { ...SETTINGS, throughput: 'request_throughput' });
  expect(curves.map(points)).toEqual([[[100, 200]]]);
});

test('goodput has all requests for comparison, only where there is goodput', () => {
  const all = shown(
    sweep('a', [step(1, { goodput: 4, request_throughput: 5 }), step(2, { request_throughput: 9 })]),
    sweep('b', [step(1, { request_throughput: 6 })])
  );
  const curves = goodputCurves(all);
  expect(curves.map((curve) => [curve.isReference ?? false, points(curve)])).toEqual([
    [false, [[1, 4]]],
    [
      true,
      [
        [1, 5],
        [2, 9],
      ],
    ],
  ]);
});

test('throughput over the load', () => {
  const one = sweep('a', [step(1, { total_token_throughput: 10 }), step(2, { total_token_throughput: 18 })]);
  expect(throughputCurves(shown(one), { ...SETTINGS, throughput: 'total_token_throughput' }).map(points)).toEqual([
    [
      [1, 10],
      [2, 18],
    ],
  ]);
  expect(throughputCurves(shown(one), SETTINGS)).toEqual([]);
});

test('to begin with: all sweeps of the newest scenario, or beside a single one those of other scenarios', () => {
  const sweep = (sweep_id: string, scenario: string, load_mode = 'concurrency') =>
    ({ sweep_id, scenario, load_mode }) as Parameters<typeof preselected>[0][number];
  expect(preselected([sweep('3', 'a'), sweep('2', 'b'), sweep('1', 'a')])).toEqual(['3', '1']);
  expect(
    preselected([sweep('5', 'a'), sweep('4', 'b'), sweep('3', 'c', 'request_rate'), sweep('2', 'b'), sweep('1', 'd')])
  ).toEqual(['5', '4', '1']);
  expect(preselected([])).toEqual([]);
});

test.each([
  [40, 1, 'p99', true],
  [100, 1, 'p99', false],
  [200, 3, 'p99', true],
  [40, 1, 'p90', false],
  [null, 1, 'p99', false],
])('of %s ok requests of %s runs, %s is marked: %s', (ok, runs, percentile, marked) => {
  expect(isFew(ok, runs, percentile)).toBe(marked);
});
