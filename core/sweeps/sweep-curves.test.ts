import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { efficiencyCurve, latencyCurve, loadCurve, paretoFrontier, type Tradeoff } from './sweep-curves.ts';
import { sweepSteps } from './sweep.ts';
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

test('keeps what nothing beats, by ascending x', () => {
  const [a, b, c, d] = [
    { x: 10, y: 1 },
    { x: 5, y: 5 },
    { x: 5, y: 4 },
    { x: 1, y: 9 },
  ] as const;
  expect(paretoFrontier([c, a, d, b])).toEqual([d, b, a]);
});

test('of points with the same y only the one with the larger x', () => {
  expect(
    paretoFrontier([
      { x: 1, y: 5 },
      { x: 2, y: 5 },
    ]),
  ).toEqual([{ x: 2, y: 5 }]);
});

const dominates = (a: Tradeoff, b: Tradeoff): boolean => a.x >= b.x && a.y >= b.y && (a.x > b.x || a.y > b.y);

test('holds exactly the points that no other one dominates', () => {
  const point = fc.record({ x: fc.integer({ min: 0, max: 9 }), y: fc.integer({ min: 0, max: 9 }) });
  fc.assert(
    fc.property(fc.array(point, { maxLength: 40 }), (points) => {
      const expected = points.filter((each) => !points.some((other) => dominates(other, each)));
      const frontier = paretoFrontier(points);
      expect(new Set(frontier)).toEqual(new Set(expected));
      expect(frontier).toHaveLength(expected.length);
      expect(frontier.map(({ x }) => x)).toEqual([...frontier.map(({ x }) => x)].sort((a, b) => a - b));
    }),
    { numRuns: 300 },
  );
});
