import { expect, test } from '@jest/globals';
import type { GpuEnergy, ScalarResult } from '../run/result.ts';
import { energyResults } from './energy-results.ts';
import { SCALAR_MEASURES } from './scalar-measures.ts';

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
