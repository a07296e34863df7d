import type { Sweep } from '../../../core/sweeps/sweep-shape.ts';
import { expect, test } from '@jest/globals';
import { exampleSweepRun } from '../../../core/sweeps/testing/sweep-run.ts';
import { sweepsOf } from '../../../core/sweeps/sweep.ts';
import { sweepTable } from './sweep-table.ts';

const sweepOf = (repeats: number): Sweep[] =>
  sweepsOf(
    [1, 64, 1024].flatMap((load) =>
      Array.from({ length: repeats }, () =>
        exampleSweepRun({
          load,
          verdicts: [load < 1024 ? 'met' : 'not_met'],
          figures: {
            ...{ request_throughput: 1234, output_token_throughput: 123_456, goodput: 1000 },
            ...{ time_to_first_token_p50: 0.123, time_to_first_token_p99: 0.456 },
            ...{ inter_token_latency_p50: 0.0123, inter_token_latency_p99: 0.0456 },
          },
        }),
      ),
    ),
  ).map(({ sweep }) => sweep);

const HEADS = ['ok', 'failed', 'TTFT', 'ITL', 'p50', 'p99', 'good', 'SLO', 'output', 'tok/s'];

test('fits 80 columns without losing a column or a row', () => {
  const text = sweepTable(sweepOf(2), 80);
  const table = text.split('\n').filter((line) => !/^(SLO|knee|values) {2}/.test(line));
  expect(Math.max(...table.map((line) => line.length))).toBeLessThanOrEqual(80);
  for (const head of [...HEADS, 'runs']) expect(text).toContain(head);
  for (const cell of ['123,456', '456 ms', '12.3 ms', '1,000', 'NOT MET']) expect(text).toContain(cell);
  // Each of the two parts of the table names the load.
  expect(text.match(/^1,024/gm)).toHaveLength(2);
});

test('has one part where there is room', () => {
  const text = sweepTable(sweepOf(1), 200);
  expect(text.match(/^1,024/gm)).toHaveLength(1);
  for (const head of HEADS) expect(text).toContain(head);
});

test('the largest load within the objectives is marked and explained', () => {
  const text = sweepTable(sweepOf(1));
  expect(text).toMatch(/^64 \+ /m);
  expect(text).toContain('TTFT p99 <= 500 ms: + met up to 64, not met from 1,024');
});

test('what is missing is a dash', () => {
  const [sweep] = sweepsOf([1, 2].map((load) => exampleSweepRun({ load })));
  const [, , row] = sweepTable(sweep === undefined ? [] : [sweep.sweep]).split('\n');
  expect(row?.split(/ +/)).toEqual(['1', '100', '0', '–', '–', '–', '–', '–', '–']);
});
