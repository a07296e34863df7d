import { expect, test } from '@jest/globals';
import type { ResultFile, ScalarResult } from '../../../core/run/result.ts';
import { groupResult, groupTable, type GroupRun, sweepTable } from './group-table.ts';
import type { Sweep } from '../../../core/sweeps/sweep-shape.ts';
import { exampleSweepRun } from '../../../core/sweeps/testing/sweep-run.ts';
import { sweepsOf } from '../../../core/sweeps/sweep.ts';

const throughput = (value: number): ScalarResult => ({
  measure: 'request_throughput',
  unit: 'requests_per_second',
  definition: 'd',
  origin: 'client',
  population: 'ok',
  clock: 'sent',
  kind: 'scalar',
  value,
});

const run = (concurrency: number, step: number | null, repeat: number | null, value: number): GroupRun =>
  ({
    request: {
      group: { group_id: 'g', step, repeat },
      measure: { load: { concurrency, prefillConcurrency: null, arrivals: null } },
      inputTokens: 16,
      outputTokens: 8,
    },
    performed: {
      result: { run_id: `${concurrency}-${repeat}`, measures: [throughput(value)] } as unknown as ResultFile,
    },
  }) as unknown as GroupRun;

// Performed round by round.
const RUNS = [run(1, 0, 0, 10), run(8, 1, 0, 70), run(1, 0, 1, 14), run(8, 1, 1, 70)];

test('a line per step with the means, and the spread over its repeats', () => {
  const lines = groupTable(RUNS).split('\n');
  expect(lines[1]).toMatch(/^concurrency 1, 16 in 8 out +2 +12 +– /);
  expect(lines[2]).toMatch(/^concurrency 8, 16 in 8 out +2 +70 /);
  // s = √8; t(0.95, 1) = 12.7062, so ± 12.7062 · √8/√2 = 25.4; a rate is not below 0.
  expect(lines[5]).toMatch(
    /^requests\/s +12 requests\/s +2\.83 requests\/s +23\.6 % +0 requests\/s to 37\.4 requests\/s$/,
  );
});

test('a sweep without repeats has no spread', () => {
  expect(groupTable(RUNS.slice(0, 2)).split('\n')).toHaveLength(3);
});

test('for machines: every run, and the statistics of each step', () => {
  const { group_id, runs, steps } = groupResult(RUNS);
  expect(group_id).toBe('g');
  expect(runs.map(({ run_id }) => run_id)).toEqual(['1-0', '8-0', '1-1', '8-1']);
  expect(steps).toMatchObject([
    {
      step: 0,
      run_ids: ['1-0', '1-1'],
      statistics: [{ measure: 'request_throughput', stat: 'value', n: 2, mean: 12 }],
    },
    { step: 1, run_ids: ['8-0', '8-1'], statistics: [{ n: 2, mean: 70, std: 0 }] },
  ]);
});

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
