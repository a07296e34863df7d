import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import type { DistributionResult, ResultFile } from '../../core/run/result.ts';
import type { RunFile } from '../../core/run/run.ts';
import { PERCENTILE_NAMES } from '../../core/stats/percentiles.ts';
import { figuresOfRun } from './load-figures.ts';

const percentiles = (value: number | null, bounds: readonly [number, number] | null = null) =>
  Object.fromEntries(
    PERCENTILE_NAMES.map((name) => [name, { value, ci95: null, bounds }]),
  ) as DistributionResult['percentiles'];

const distribution = (measure: string, changed: Partial<DistributionResult> = {}): DistributionResult => ({
  ...{
    kind: 'distribution',
    measure,
    unit: 'seconds',
    definition: 'd',
    origin: 'client',
    population: 'ok',
    clock: 'sent',
  },
  ...{ n: 10, effective_n: 7, mean: 2, std: 1, min: 1, max: 3, percentiles: percentiles(2) },
  ...changed,
});

const RUN = { run_id: 'r', start: '2026-01-01T00:00:00.000Z', scenario: 's', fingerprint: 'f' } as RunFile;
const RESULT = { client: { verdict: 'ok' }, servers: null, measures: [] } as unknown as ResultFile;
const figures = (...measures: DistributionResult[]) => figuresOfRun(RUN, { ...RESULT, measures }).figures;

test('mean, p50, p90 and p99 with their numbers and direction', () => {
  const found = figures(distribution('time_to_first_token'));
  expect(found.map(({ stat }) => stat)).toEqual(['mean', 'p50', 'p90', 'p99']);
  expect(found[1]).toMatchObject({ value: 2, n: 10, effective_n: 7, direction: 'lower', clock: 'sent' });
});

test('a percentile from buckets is its interval', () => {
  const [, p50] = figures(distribution('request_latency', { percentiles: percentiles(2, [1, 4]) }));
  expect(p50?.value).toEqual([1, 4]);
});

test('a value that is missing is infinite only where failed requests count as infinitely slow', () => {
  const missing = { mean: null, percentiles: percentiles(null) };
  expect(figures(distribution('request_latency', missing)).map(({ value }) => value)).toEqual([null, null, null, null]);
  const [mean, p50] = figures(distribution('request_latency', { ...missing, population: 'all' }));
  expect([mean?.value, p50?.value]).toEqual([Infinity, Infinity]);
  const [none] = figures(distribution('request_latency', { ...missing, population: 'all', n: 0 }));
  expect(none?.value).toBeNull();
});

test('the load as it was achieved', () => {
  const measures = [
    distribution('input_sequence_length', { unit: 'tokens', mean: 512 }),
    distribution('output_sequence_length', { unit: 'tokens', mean: 128 }),
  ];
  expect(figuresOfRun(RUN, { ...RESULT, measures })).toMatchObject({
    run_id: 'r',
    load: { input_tokens: 512, output_tokens: 128, cached_input_ratio: null, request_rate: null },
    command_line: RUN.command_line,
    client: 'ok',
    foreign_traffic: null,
  });
});

test('a result of the store can be read', async () => {
  const folder = new URL('../store/migrations/fixtures/version-1/20261121T222600Z-version1ab/', import.meta.url);
  const result = JSON.parse(await readFile(new URL('result.json', folder), 'utf8')) as ResultFile;
  const run = JSON.parse(await readFile(new URL('run.json', folder), 'utf8')) as RunFile;
  // One distribution and one scalar.
  expect(figuresOfRun(run, result).figures).toHaveLength(5);
});
