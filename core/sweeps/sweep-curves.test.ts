import { expect, test } from '@jest/globals';
import { efficiencyCurve, latencyCurve, loadCurve } from './sweep-curves.ts';
import { sweepSteps } from './sweep-steps.ts';
import { exampleSweepRun } from './testing/sweep-run.ts';

const sweep = {
  steps: sweepSteps([
    exampleSweepRun({
      load: 1,
      figures: { output_token_throughput: 400, time_to_first_token_p99: 0.1, tokens_per_second_per_user_p50: 100 },
    }),
    exampleSweepRun({
      load: 8,
      figures: { output_token_throughput: 1600, time_to_first_token_p99: 0.4, tokens_per_second_per_user_p50: 50 },
    }),
    // Overloaded: less throughput at a larger latency.
    exampleSweepRun({
      load: 16,
      figures: { output_token_throughput: 1500, time_to_first_token_p99: 0.9, tokens_per_second_per_user_p50: 20 },
    }),
    exampleSweepRun({ load: 32, figures: { output_token_throughput: 1400 } }),
  ]),
};

test('throughput against latency, without the step that has no latency', () => {
  const points = latencyCurve(sweep, 'output_token_throughput', 'time_to_first_token', 'p99');
  expect(points.map(({ x, y }) => [x, y])).toEqual([
    [400, 0.1],
    [1600, 0.4],
    [1500, 0.9],
  ]);
});

test('tokens/s per user against tokens/s per GPU', () => {
  const points = efficiencyCurve(sweep, 'output_token_throughput', 'p50', 4);
  expect(points.map(({ x, y, yRange }) => [x, y, ...yRange])).toEqual([
    [100, 100, 100, 100],
    [50, 400, 400, 400],
    [20, 375, 375, 375],
  ]);
});

test('a figure over the load', () => {
  expect(loadCurve(sweep, 'output_token_throughput').map(({ x, y }) => [x, y])).toHaveLength(4);
  expect(loadCurve(sweep, 'goodput')).toEqual([]);
});
