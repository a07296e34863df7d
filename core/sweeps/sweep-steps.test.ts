import { expect, test } from '@jest/globals';
import { sweepSteps } from './sweep-steps.ts';
import { exampleSweepRun } from './testing/sweep-run.ts';

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
