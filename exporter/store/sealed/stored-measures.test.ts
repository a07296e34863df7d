import { expect, test } from '@jest/globals';
import type { DistributionResult, MeasureResult } from '../../../core/run/result.ts';
import { SCALAR_MEASURES } from '../../../core/measures/scalar-measures.ts';
import { PERCENTILE_NAMES, type PercentileName } from '../../../core/stats/percentiles.ts';
import { distribution, resultFile, scalar } from '../../publish/fixtures/run.ts';
import { storedResult, wholeResult } from './stored-measures.ts';

const ERROR_RATIO = SCALAR_MEASURES.error_ratio.definition;

const unknown = { value: null, ci95: null, bounds: null };

const percentilesOf = (known: Partial<DistributionResult['percentiles']>): DistributionResult['percentiles'] =>
  Object.fromEntries(PERCENTILE_NAMES.map((name) => [name, known[name] ?? unknown])) as Record<
    PercentileName,
    typeof unknown
  >;

const NOTHING = {
  ...{ n: null, effective_n: null, mean: null, std: null, min: null, max: null },
  percentiles: percentilesOf({}),
};

const RESULT = resultFile({
  measures: [
    distribution({ ...NOTHING, n: 0 }),
    distribution(NOTHING),
    distribution({
      ...{ ...NOTHING, n: 3, mean: 0.2 },
      percentiles: percentilesOf({
        p50: { value: 0, ci95: null, bounds: null },
        p99: { value: null, ci95: null, bounds: [0.1, 0.5] },
      }),
    }),
    scalar({ measure: 'error_ratio', value: null }),
  ],
});

function storedMeasuresOf(measures: readonly MeasureResult[]): Readonly<Record<string, unknown>>[] {
  const stored = JSON.parse(JSON.stringify(storedResult(resultFile({ measures })))) as Record<string, unknown>;
  return stored['measures'] as Record<string, unknown>[];
}

test('what is stored is read as it was, with null where nothing is known', () => {
  const { measures, requests } = RESULT;
  const result = { ...RESULT, breakdown: [{ by: 'turn' as const, value: 'first', requests, measures }] };
  const stored = JSON.parse(JSON.stringify(storedResult(result))) as Record<string, unknown>;
  expect(wholeResult(stored)).toEqual(result);
  expect(JSON.stringify(stored)).not.toContain('ci95');
});

test('a distribution is stored without what is null; 0 and scalars stay', () => {
  const { measures } = storedResult(RESULT) as { readonly measures: readonly Readonly<Record<string, unknown>>[] };
  const [none, unstated, some, ratio] = measures;
  expect(none).toHaveProperty('n', 0);
  expect(none).not.toHaveProperty('percentiles');
  expect(unstated).not.toHaveProperty('n');
  expect(some).toMatchObject({ mean: 0.2, percentiles: { p50: { value: 0 }, p99: { bounds: [0.1, 0.5] } } });
  expect(Object.keys(some?.['percentiles'] as object)).toEqual(['p50', 'p99']);
  expect(ratio).toHaveProperty('value', null);
});

const ENERGY = {
  measure: 'energy_per_output_token',
  unit: 'joules_per_token',
  definition: 'gpu_joules_over_tokens',
} as const;

test('a measure without a value is stored without what its definition is, and read as it was', () => {
  const due = { definition: 'due_to_first_content_chunk', clock: 'due' } as const;
  const measures = [
    distribution({ ...NOTHING, n: 0 }),
    distribution({ ...NOTHING, ...due, n: 0 }),
    distribution({ ...NOTHING, definition: 'to_first_byte' }),
    scalar({ value: null }),
    scalar({ measure: 'error_ratio', unit: 'ratio', definition: ERROR_RATIO, population: 'all', value: null }),
    scalar({ ...ENERGY, value: null }),
  ];
  const stored = storedMeasuresOf(measures);
  expect(stored).toEqual([
    { measure: 'time_to_first_token', kind: 'distribution', n: 0 },
    { measure: 'time_to_first_token', clock: 'due', kind: 'distribution', n: 0 },
    { measure: 'time_to_first_token', definition: 'to_first_byte', kind: 'distribution' },
    { measure: 'request_throughput', kind: 'scalar', value: null },
    { measure: 'error_ratio', population: 'all', kind: 'scalar', value: null },
    { ...scalar({ ...ENERGY, value: null }) },
  ]);
  expect(wholeResult({ measures: stored, stages: [] })).toEqual({ measures, stages: [] });
});

test('statistics over all requests that equal those over the ok ones are stored once', () => {
  const late = { measure: 'request_latency', definition: 'sent_to_last_content_chunk' };
  const measures = [
    distribution(),
    distribution({ population: 'all' }),
    distribution({ ...late, mean: 0.2 }),
    distribution({ ...late, population: 'all', mean: null, max: null }),
    distribution({ ...NOTHING, n: 0 }),
    distribution({ ...NOTHING, n: 0, population: 'all' }),
  ];
  const stored = storedMeasuresOf(measures);
  expect(stored.map(({ population = 'ok', also }) => [population, also])).toEqual([
    ['ok', 'all'],
    ['ok', undefined],
    ['all', undefined],
    ['ok', 'all'],
  ]);
  expect(wholeResult({ measures: stored, stages: [] })).toEqual({ measures, stages: [] });
});

test('a measure without a value that only another version has is left out', () => {
  const measures = [{ measure: 'later', kind: 'distribution', n: 0, also: 'all' }, scalar()];
  expect(wholeResult({ measures, stages: [] })).toEqual({ measures: [scalar()], stages: [] });
});

test('a file in which every member is stored, as earlier versions wrote it, is read unchanged', () => {
  expect(wholeResult({ ...RESULT })).toEqual(RESULT);
});

test('what is no measure is left for the reader to report', () => {
  for (const measures of ['none', [null], [{ kind: 'distribution', percentiles: 3 }]])
    expect(wholeResult({ measures, stages: [] })).toEqual({ measures, stages: [] });
});
