import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ObjectiveVerdict } from '../run/objectives.ts';
import { sweepNames } from './sweep-names.ts';
import type { Sweep, SweepStep } from './sweep-shape.ts';
import { sweepsOf, sweepSteps, kneeOf, loadWithinObjective, searchedSweep, type CurvePoint } from './sweep.ts';
import { exampleSweepRun, type GivenRun } from './testing/sweep-run.ts';

const run = (load: number, change: GivenRun['change'] = {}, figures: GivenRun['figures'] = {}) =>
  exampleSweepRun({ load, change, figures });

describe('which runs are a sweep', () => {
  test('those of a group with two loads, and of a scenario the runs of no such group', () => {
    const sweeps = sweepsOf([
      ...[1, 2, 4].map((load) => run(load, { group_id: 'g' })),
      ...[1, 8].map((load) => run(load)),
      // Repeats of one load are no sweep of their own: they are repeats of the scenario's.
      ...[8, 8].map((load) => run(load, { group_id: 'repeats' })),
    ]);
    expect(sweeps.map(({ sweep }) => [sweep.source, sweep.steps.map(({ load, runs }) => [load, runs.length])])).toEqual(
      [
        [
          { kind: 'scenario', name: 'chat' },
          [
            [1, 1],
            [8, 3],
          ],
        ],
        [
          { kind: 'group', name: 'g' },
          [
            [1, 1],
            [2, 1],
            [4, 1],
          ],
        ],
      ],
    );
  });

  test('each variant of a matrix is one', () => {
    const sweeps = sweepsOf(
      ['short', 'long'].flatMap((key) => [1, 2].map((load) => run(load, { group_id: 'g', key }))),
    );
    expect(sweeps).toHaveLength(2);
    expect(new Set(sweeps.map(({ key }) => key)).size).toBe(2);
  });

  test('one load is none', () => {
    expect(sweepsOf([run(4), run(4)])).toEqual([]);
  });
});

describe('what a sweep says', () => {
  test('its knee, from the output tokens', () => {
    const throughput = [10, 20, 40, 45, 46];
    const runs = throughput.map((output_token_throughput, i) => run(2 ** i, {}, { output_token_throughput }));
    expect(sweepsOf(runs)[0]?.sweep.knee).toEqual({ method: 'kneedle', figure: 'output_token_throughput', load: 4 });
  });

  test('its GPUs, when all runs report the same number', () => {
    const gpus = (...counts: (number | null)[]) =>
      sweepsOf(counts.map((count, i) => run(i + 1, { gpus: count })))[0]?.sweep.gpus;
    expect(gpus(8, 8)).toBe(8);
    expect(gpus(8, 4)).toBeNull();
    expect(gpus(8, null)).toBeNull();
  });
});

describe('names of sweeps beside each other', () => {
  const sweep = (change: object) => {
    const [found] = sweepsOf([run(1), run(2)]);
    if (found === undefined) throw new Error('two loads are a sweep');
    return { ...found.sweep, ...change };
  };

  test('say what differs', () => {
    expect(sweepNames([sweep({ system_version: '0.10.0' }), sweep({ system_version: '0.11.0' })])).toEqual([
      'vllm 0.10.0',
      'vllm 0.11.0',
    ]);
  });

  test('say the start where nothing else differs', () => {
    expect(sweepNames([sweep({ start: '2026-01-01T10:00:00Z' }), sweep({ start: '2026-01-02T11:30:00Z' })])).toEqual([
      'chat · vllm 0.11.0 · m · 2026-01-01 10:00',
      'chat · vllm 0.11.0 · m · 2026-01-02 11:30',
    ]);
  });

  test('of one alone', () => {
    expect(sweepNames([sweep({})])).toEqual(['chat · vllm 0.11.0 · m']);
  });
});

test('a step per load, ascending, with mean and range of the repeats', () => {
  const steps = sweepSteps([
    exampleSweepRun({ load: 8, figures: { request_throughput: 70 } }),
    exampleSweepRun({ load: 1, figures: { request_throughput: 10, time_to_first_token_p99: 0.2 } }),
    exampleSweepRun({ load: 1, figures: { request_throughput: 14 } }),
  ]);
  expect(steps.map(({ load, runs }) => [load, runs.length])).toEqual([
    [1, 2],
    [8, 1],
  ]);
  expect(steps[0]?.values.request_throughput).toEqual({ mean: 12, min: 10, max: 14, n: 2 });
  // One of the two runs has it: n is 1.
  expect(steps[0]?.values.time_to_first_token_p99).toEqual({ mean: 0.2, min: 0.2, max: 0.2, n: 1 });
  expect(steps[0]?.requests).toEqual({ ok: 200, error: 0, timeout: 0, cancelled: 0 });
});

test('what is missing stays missing', () => {
  const [step] = sweepSteps([
    exampleSweepRun({ load: 1, change: { requests: { ok: 5, error: null, timeout: 0, cancelled: 0 } } }),
  ]);
  expect(step?.values.goodput).toBeNull();
  expect(step?.requests).toEqual({ ok: 5, error: null, timeout: 0, cancelled: 0 });
  expect(step?.objective).toBeNull();
});

test('a run that did not complete is listed, and its values are not used', () => {
  const [step] = sweepSteps([
    exampleSweepRun({ load: 1, figures: { request_throughput: 3 }, change: { status: 'aborted' } }),
  ]);
  expect(step).toMatchObject({ runs: [{ status: 'aborted' }], requests: { ok: null } });
  expect(step?.values.request_throughput).toBeNull();
});

test('the bounds of a percentile from buckets are part of its range', () => {
  const run = exampleSweepRun({ load: 1 });
  const figures = { ...run.figures, inter_token_latency_p50: { value: 0.02, low: 0.01, high: 0.04 } };
  const [step] = sweepSteps([{ ...run, figures }]);
  expect(step?.values.inter_token_latency_p50).toEqual({ mean: 0.02, min: 0.01, max: 0.04, n: 1 });
});

test.each([
  [['met'], ['met'], 'met'],
  [['met'], ['undecided'], 'undecided'],
  [['met', 'undecided'], ['met', 'not_met'], 'not_met'],
] as const)('the objective over repeats with %j and %j is %s', (one, other, expected) => {
  const [step] = sweepSteps([
    exampleSweepRun({ load: 1, verdicts: one }),
    exampleSweepRun({ load: 1, verdicts: other }),
  ]);
  expect(step?.objective).toBe(expected);
  expect(step?.slos).toHaveLength(one.length);
});

const points = (x: readonly number[], y: readonly number[]): CurvePoint[] =>
  x.map((each, i) => ({ x: each, y: y[i] ?? NaN }));

test('calculated by hand: the largest rise above the diagonal, from which it falls by more than a mean step', () => {
  // Normalized x: 0, 1/15, 3/15, 7/15, 1; y: 0, 10/36, 30/36, 35/36, 1. Differences: 0, .211, .633, .506, 0; .633 − 1/4 = .383.
  expect(kneeOf(points([1, 2, 4, 8, 16], [10, 20, 40, 45, 46]))).toBe(2);
});

test.each([
  ['a straight line', [1, 2, 3, 4, 5], [10, 20, 30, 40, 50]],
  ['a curve that rises ever faster', [1, 2, 3, 4, 5], [1, 4, 9, 16, 25]],
  // Differences: 0, .071, 0; the threshold .071 − 1/2 is below both.
  ['a bend that is smaller than a step', [1, 2, 3], [10, 18, 24]],
  ['no change', [1, 2, 3], [7, 7, 7]],
  ['a fall', [1, 2, 3], [9, 5, 1]],
  ['two points', [1, 2], [1, 2]],
  ['no points', [], []],
])('%s has no knee', (_, x, y) => {
  expect(kneeOf(points(x, y))).toBeNull();
});

interface Peer {
  readonly cases: readonly { readonly x: number[]; readonly y: number[]; readonly knee: number | null }[];
}

describe('the same knee as kneed', () => {
  const { cases } = JSON.parse(readFileSync(new URL('fixtures/kneed.json', import.meta.url), 'utf8')) as Peer;
  test.each(cases.map((each, i) => [i, each] as const))('case %i', (_, { x, y, knee }) => {
    const place = kneeOf(points(x, y));
    expect(place === null ? null : x[place]).toBe(knee);
  });
});

test('does not depend on the units of either axis', () => {
  const curve = fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 3, maxLength: 12 });
  // Powers of two scale without rounding.
  const scale = fc.constantFrom(0.25, 2, 1024);
  fc.assert(
    fc.property(curve, scale, scale, (ys, a, b) => {
      const plain = ys.map((y, i) => ({ x: 2 ** i, y }));
      const scaled = plain.map(({ x, y }) => ({ x: x * a, y: y * b }));
      expect(kneeOf(scaled)).toBe(kneeOf(plain));
    }),
  );
});

const steps = (...objectives: (ObjectiveVerdict | null)[]): { load: number; objective: ObjectiveVerdict | null }[] =>
  objectives.map((objective, i) => ({ load: 2 ** i, objective }));

test.each([
  [steps('met', 'met', 'not_met', 'not_met'), { holds: 2, fails: 4, monotonic: true }],
  [steps('met', 'met'), { holds: 2, fails: null, monotonic: true }],
  [steps('not_met', 'not_met'), { holds: null, fails: 1, monotonic: true }],
  // An undecided step and one without runs are neither.
  [steps('met', 'undecided', null, 'not_met'), { holds: 1, fails: 8, monotonic: true }],
  [steps('undecided', null), { holds: null, fails: null, monotonic: true }],
  // Met again above a load that fails: the smaller one counts.
  [steps('met', 'not_met', 'met'), { holds: 1, fails: 2, monotonic: false }],
])('case %#', (given, expected) => {
  expect(loadWithinObjective(given)).toEqual(expected);
});

test('without objectives there is none', () => {
  expect(loadWithinObjective(steps(null, null))).toBeNull();
});

const sweep = {
  load_mode: 'concurrency',
  // As the whole runs say, with the requests that meet an idle server.
  steps: [1, 4, 5, 8].map((load) => ({ load, objective: 'not_met' }) as SweepStep),
  within_objective: { holds: null, fails: 1, monotonic: true },
} as unknown as Sweep;
const response = { load: 'concurrency', confirmed: true, confidence: 0.95, end: 'found' } as const;

test('the answer of the search replaces what the whole runs say', () => {
  const searched = searchedSweep(sweep, { ...response, holds: 4, fails: 8 });
  expect(searched.within_objective).toEqual({ holds: 4, fails: 8, monotonic: true, confidence: 0.95 });
  expect(searched.steps.map(({ objective }) => objective)).toEqual(['met', 'met', 'undecided', 'not_met']);
});

test('bounds that are not confirmed have no confidence', () => {
  const searched = searchedSweep(sweep, { ...response, holds: 4, fails: null, confirmed: false, end: 'budget' });
  expect(searched.within_objective).toEqual({ holds: 4, fails: null, monotonic: true });
  expect(searched.steps.map(({ objective }) => objective)).toEqual(['met', 'met', 'undecided', 'undecided']);
});

test('of a server that is not monotonic the loads keep their verdicts', () => {
  const searched = searchedSweep(sweep, { ...response, holds: 1, fails: 4, end: 'not_monotonic' });
  expect(searched.within_objective).toMatchObject({ holds: 1, fails: 4, monotonic: false });
  expect(searched.steps).toEqual(sweep.steps);
});

test.each([
  ['without an answer', { ...response, holds: null, fails: null }],
  ['for another load', { ...response, load: 'request_rate' as const, holds: 4, fails: 5 }],
])('a search %s changes nothing', (_, capacity) => {
  expect(searchedSweep(sweep, capacity)).toEqual(sweep);
});
