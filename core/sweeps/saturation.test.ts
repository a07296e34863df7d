import { expect, test } from '@jest/globals';
import type { MeasureResult, ResultFile } from '../run/result.ts';
import { doubledLoads, endOfDoubling } from './sweep-figures.ts';

type Result = Pick<ResultFile, 'measures' | 'client'>;

const scalar = (measure: string, value: number | null): MeasureResult =>
  ({
    ...{ measure, unit: 'per second', definition: 'd', origin: 'client', population: 'ok', clock: 'sent' },
    ...{ kind: 'scalar', value, n: 10 },
  }) as unknown as MeasureResult;

const result = (
  throughput: Readonly<Record<string, number | null>>,
  verdict: Result['client']['verdict'] = 'ok',
): Result => ({
  measures: Object.entries(throughput).map(([measure, value]) => scalar(measure, value)),
  client: { verdict } as Result['client'],
});
const tokens = (value: number): Result => result({ output_token_throughput: value, request_throughput: 1 });

test('loads double up to the highest', () => {
  expect(doubledLoads(1, 8)).toEqual([1, 2, 4, 8]);
  expect(doubledLoads(3, 20)).toEqual([3, 6, 12]);
  expect(doubledLoads(5, 4)).toEqual([]);
});

test('a sweep goes on while the throughput grows by a tenth', () => {
  expect(endOfDoubling([])).toBeNull();
  expect(endOfDoubling([tokens(100)])).toBeNull();
  expect(endOfDoubling([tokens(100), tokens(110)])).toBeNull();
});

test('it ends when twice the load gives less, or fewer than before', () => {
  expect(endOfDoubling([tokens(50), tokens(100), tokens(109)])).toEqual({
    ...{ reason: 'saturated', gain: expect.closeTo(0.09), measure: 'output_token_throughput' },
  });
  expect(endOfDoubling([tokens(100), tokens(80)])).toMatchObject({ reason: 'saturated', gain: expect.closeTo(-0.2) });
});

test('responses without tokens are counted as requests', () => {
  const requests = (value: number): Result => result({ output_token_throughput: null, request_throughput: value });
  expect(endOfDoubling([requests(10), requests(19)])).toBeNull();
  expect(endOfDoubling([requests(10), requests(10)])).toEqual({
    ...{ reason: 'saturated', gain: 0, measure: 'request_throughput' },
  });
});

test('a saturated client, or no throughput, ends it at any load', () => {
  expect(endOfDoubling([result({ output_token_throughput: 5 }, 'saturated')])).toEqual({ reason: 'client saturated' });
  expect(endOfDoubling([tokens(1), result({})])).toEqual({ reason: 'no throughput' });
});
