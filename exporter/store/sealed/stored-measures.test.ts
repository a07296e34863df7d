import { expect, test } from '@jest/globals';
import type { DistributionResult } from '../../../core/run/result.ts';
import { PERCENTILE_NAMES, type PercentileName } from '../../../core/stats/percentiles.ts';
import { distribution, resultFile, scalar } from '../../publish/fixtures/run.ts';
import { storedResult, wholeResult } from './stored-measures.ts';

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

test('a file in which every member is stored, as earlier versions wrote it, is read unchanged', () => {
  expect(wholeResult({ ...RESULT })).toEqual(RESULT);
});

test('what is no measure is left for the reader to report', () => {
  for (const measures of ['none', [null], [{ kind: 'distribution', percentiles: 3 }]])
    expect(wholeResult({ measures, stages: [] })).toEqual({ measures, stages: [] });
});
