import { expect, test, describe } from '@jest/globals';
import type { GpuEnergy, ScalarResult } from '../run/result.ts';
import {
  energyResults,
  energyFromCounter,
  energyFromPower,
  COST_MEASURES,
  costResults,
  currencyOf,
  type GpuReading,
} from './energy-results.ts';
import { SCALAR_MEASURES } from './scalar-measures.ts';

describe('energy results', () => {
  const ENERGY: GpuEnergy = {
    ...{ joules: 12_000, watts: 600, idle_watts: 150, gpus: 2, source: 'energy_counter', resolution_seconds: 1 },
    by_gpu: [],
  };

  function throughput(name: 'output_token_throughput' | 'total_token_throughput', value: number | null): ScalarResult {
    const { measure, unit, definition } = SCALAR_MEASURES[name];
    return {
      ...{ measure, unit, definition, origin: 'client', population: 'ok', clock: 'sent', kind: 'scalar' },
      value,
    };
  }

  const valuesOf = (results: readonly ScalarResult[]) =>
    Object.fromEntries(results.map(({ measure, unit, value }) => [measure, [value, unit]]));

  test('energy and power, and the energy per token', () => {
    // 20 s: 24,000 output tokens and 96,000 in total.
    const measures = [throughput('output_token_throughput', 1200), throughput('total_token_throughput', 4800)];
    expect(valuesOf(energyResults(ENERGY, measures))).toEqual({
      total_gpu_energy: [12_000, 'joules'],
      total_gpu_power: [600, 'watts'],
      idle_gpu_power: [150, 'watts'],
      energy_per_output_token: [0.5, 'joules_per_token'],
      energy_per_total_token: [0.125, 'joules_per_token'],
    });
  });

  test('without tokens there is no energy per token, without energy none at all', () => {
    const noTokens = valuesOf(energyResults(ENERGY, [throughput('output_token_throughput', 0)]));
    expect(noTokens).toMatchObject({ energy_per_output_token: [null, expect.anything()] });
    expect(noTokens).toMatchObject({ energy_per_total_token: [null, expect.anything()] });
    const unknown = { ...ENERGY, joules: null, watts: null, idle_watts: null };
    const measures = [throughput('output_token_throughput', 1200), throughput('total_token_throughput', 4800)];
    expect(energyResults(unknown, measures).map(({ value }) => value)).toEqual([null, null, null, null, null]);
    expect(energyResults(null, measures)).toEqual([]);
  });

  test("tokens under another tool's definition are not those of the window", () => {
    const foreign = { ...throughput('output_token_throughput', 1200), definition: 'other' };
    expect(valuesOf(energyResults(ENERGY, [foreign]))).toMatchObject({
      energy_per_output_token: [null, expect.anything()],
    });
  });
});

describe('gpu energy', () => {
  const readings = (...pairs: readonly (readonly [at_seconds: number, value: number])[]): GpuReading[] =>
    pairs.map(([at_seconds, value]) => ({ at_seconds, value }));
  const window = (start_seconds: number, end_seconds: number) => ({ start_seconds, end_seconds });

  describe('from a counter', () => {
    test('linear between the readings', () => {
      // 350 J at 5 s, 1100 J at 15 s.
      const found = energyFromCounter(readings([0, 100], [10, 600], [20, 1600]), window(5, 15));
      expect(found).toEqual({ joules: 750, resolution_seconds: 10 });
    });

    test('an edge that no reading reaches is extrapolated from the nearest two', () => {
      // 100 W: 100 J at 5 s, 2100 J at 25 s.
      const found = energyFromCounter(readings([10, 600], [20, 1600]), window(5, 25));
      expect(found).toEqual({ joules: 2000, resolution_seconds: 10 });
    });

    test('the readings outside the window do not set the resolution', () => {
      const found = energyFromCounter(readings([0, 0], [30, 30], [31, 31], [32, 32], [33, 33]), window(30, 33));
      expect(found).toEqual({ joules: 3, resolution_seconds: 1 });
    });

    test.each([
      ['no reading', readings(), window(0, 10)],
      ['one reading', readings([5, 100]), window(0, 10)],
      ['a counter that decreased', readings([0, 100], [5, 20], [10, 120]), window(0, 10)],
      ['readings that end long before the window does', readings([0, 0], [10, 100]), window(5, 21)],
      ['readings that begin long after the window does', readings([11, 0], [21, 100]), window(0, 20)],
      ['a window without length', readings([0, 0], [10, 100]), window(5, 5)],
    ])('null: %s', (_name, changes, over) => {
      expect(energyFromCounter(changes, over)).toBeNull();
    });
  });

  describe('from the power', () => {
    test('trapezoids, cut at the edges of the window', () => {
      // From 200 W at 5 s to 300 W at 10 s: 1250 J; then 300 W for 5 s: 1500 J.
      const found = energyFromPower(readings([0, 100], [10, 300], [20, 300]), window(5, 15));
      expect(found).toEqual({ joules: 2750, resolution_seconds: 10 });
    });

    test('the first and the last reading hold up to the edges', () => {
      // 100 J + 300 J + 200 J.
      expect(energyFromPower(readings([1, 100], [3, 200]), window(0, 4))?.joules).toBe(600);
    });

    test('a window between two readings', () => {
      // From 120 W to 180 W in 6 s.
      expect(energyFromPower(readings([0, 100], [10, 200]), window(2, 8))?.joules).toBe(900);
    });

    test('null: one reading, or readings that do not reach the window', () => {
      expect(energyFromPower(readings([5, 100]), window(0, 10))).toBeNull();
      expect(energyFromPower(readings([0, 100], [1, 100]), window(5, 10))).toBeNull();
    });
  });
});

describe('cost results', () => {
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
});
