import { expect, test } from '@jest/globals';
import type { MeasureResult } from '../../core/run/result.ts';
import { distribution, resultFile, scalar } from './fixtures/run.ts';
import { breakdownSamples, resultSamples } from './result-samples.ts';

const lines = (...measures: MeasureResult[]): string[] =>
  resultSamples(resultFile({ measures })).map(
    ({ unit, measure, stat, value }) => `${unit} ${measure} ${stat} ${value}`,
  );

const REQUESTS = [
  'requests requests ok 3',
  'requests requests error 1',
  'requests requests timeout 0',
  'requests requests cancelled 0',
];

test('requests of the measure phase by outcome', () => {
  expect(lines()).toEqual(REQUESTS);
});

test('a count that a file did not report has no sample', () => {
  const requests = { ok: 3, error: null, timeout: null, cancelled: 0 };
  expect(resultSamples(resultFile({ requests, measures: [] })).map(({ stat, value }) => [stat, value])).toEqual([
    ['ok', 3],
    ['cancelled', 0],
  ]);
});

test('a distribution: its statistics, without those that are not available', () => {
  expect(lines(distribution({ std: null })).slice(4)).toEqual([
    'seconds time_to_first_token mean 0.1',
    'seconds time_to_first_token min 0.0625',
    'seconds time_to_first_token max 1e-7',
    'seconds time_to_first_token p50 0.30000000000000004',
    'seconds time_to_first_token p99 0.5',
    'seconds time_to_first_token p99_9 0.75',
  ]);
});

test('a scalar has the stat "value", and none when it is null', () => {
  expect(lines(scalar(), scalar({ measure: 'error_ratio', unit: 'ratio', value: null })).slice(4)).toEqual([
    'requests_per_second request_throughput value 12.5',
  ]);
});

test('a scalar over all requests has the stat "value" as well: there is no other one of its name', () => {
  const errorRatio = scalar({ measure: 'error_ratio', unit: 'ratio', population: 'all', value: 0.25 });
  expect(lines(errorRatio).slice(4)).toEqual(['ratio error_ratio value 0.25']);
});

test('clock and population keep the same statistic apart', () => {
  const from = lines(
    distribution(),
    distribution({ clock: 'due' }),
    distribution({ population: 'all' }),
    distribution({ clock: 'due', population: 'all' }),
  ).filter((line) => line.includes('p99 '));
  expect(from).toEqual([
    'seconds time_to_first_token p99 0.5',
    'seconds time_to_first_token_from_due p99 0.5',
    'seconds time_to_first_token all_p99 0.5',
    'seconds time_to_first_token_from_due all_p99 0.5',
  ]);
});

test('a measure that only counts from due keeps its name', () => {
  expect(lines(distribution({ measure: 'schedule_delay', clock: 'due' }))).toContain('seconds schedule_delay mean 0.1');
});

test("what servers say of themselves is not the client's result", () => {
  expect(lines(scalar({ origin: 'server' }))).toEqual(REQUESTS);
});

test('the acceptance of drafts is published, although servers count it', () => {
  const acceptance = { measure: 'speculative_acceptance_length', unit: 'tokens', value: 2.5 } as const;
  expect(lines(scalar({ ...acceptance, origin: 'server' }))).toContain(
    'tokens speculative_acceptance_length value 2.5',
  );
});

test('of a breakdown by turn the first and the later turns, by label, with the statistics that are queried', () => {
  const requests = { ok: 2, error: 0, timeout: 0, cancelled: 0 };
  const measures = [distribution(), distribution({ clock: 'due' }), scalar({ measure: 'request_throughput' })];
  const breakdown = (['first', 'later', '2', '3-4'] as const).map((value) => ({
    ...{ by: 'turn' as const, value, requests, measures },
  }));
  const samples = breakdownSamples(resultFile({ breakdown }));
  expect(new Set(samples.map(({ by, of }) => `${by}=${of}`))).toEqual(new Set(['turn=first', 'turn=later']));
  const first = samples.filter(({ of, unit }) => of === 'first' && unit === 'seconds');
  expect(first.map(({ measure, stat, value }) => [measure, stat, value])).toEqual([
    ['time_to_first_token', 'mean', 0.1],
    ['time_to_first_token', 'p50', 0.30000000000000004],
    ['time_to_first_token', 'p99', 0.5],
  ]);
  expect(breakdownSamples(resultFile())).toEqual([]);
});
