import { expect, test } from '@jest/globals';
import type { ScalarResult } from '../run/result.ts';
import { COST_MEASURES, costResults, currencyOf } from './cost-results.ts';
import { SCALAR_MEASURES } from './scalar-measures.ts';

function throughput(name: 'output_token_throughput' | 'total_token_throughput', value: number | null): ScalarResult {
  const { measure, unit, definition } = SCALAR_MEASURES[name];
  const identity = { measure, unit, definition, origin: 'client', population: 'ok', clock: 'sent' } as const;
  return { ...identity, kind: 'scalar', value };
}

const MEASURES = [throughput('output_token_throughput', 1000), throughput('total_token_throughput', 4000)];
const PRICE = { per_hour: 1.8, currency: 'EUR', gpus: null };

test('the cost of a million tokens at the throughput of the run', () => {
  // 2 GPUs cost 3.6 EUR an hour, 0.001 EUR a second, in which 1000 output tokens and 4000 in total are served.
  const [output, total] = costResults(PRICE, 2, MEASURES);
  expect(output).toMatchObject({ measure: 'cost_per_million_output_tokens', unit: 'cost_per_million_tokens' });
  expect(output?.value).toBeCloseTo(1, 12);
  expect(total?.value).toBeCloseTo(0.25, 12);
});

test('currencies are different definitions', () => {
  const { definition } = COST_MEASURES.cost_per_million_output_tokens;
  const definitionOf = (currency: string | null) => costResults({ ...PRICE, currency }, 2, MEASURES)[0]?.definition;
  expect(definitionOf('EUR')).toBe(`${definition}_in_eur`);
  expect(definitionOf(null)).toBe(definition);
  expect(currencyOf({ definition: `${definition}_in_eur` })).toBe('EUR');
  expect(currencyOf({ definition })).toBeNull();
});

test('null without GPUs, or without tokens; nothing without a price', () => {
  expect(costResults(PRICE, null, MEASURES).map(({ value }) => value)).toEqual([null, null]);
  const noTokens = [throughput('output_token_throughput', 0), throughput('total_token_throughput', null)];
  expect(costResults(PRICE, 2, noTokens).map(({ value }) => value)).toEqual([null, null]);
  expect(costResults(null, 2, MEASURES)).toEqual([]);
});
