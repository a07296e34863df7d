import type { GpuEnergy, MeasureResult, ScalarResult } from '../run/result.ts';
import type { ScalarMeasure } from './measures.ts';
import { quotient, scalarResult, throughputOf } from './scalar-result.ts';

/** What the GPUs of the servers took. Where AIPerf has the measure, its meaning is the same, in base units. */
export const ENERGY_MEASURES = {
  total_gpu_energy: {
    measure: 'total_gpu_energy',
    unit: 'joules',
    definition: 'energy_of_all_gpus_in_window',
    formula: 'energy of all GPUs on the metrics pages, over the window; from counters of energy, else from power',
    direction: 'none',
  },
  total_gpu_power: {
    measure: 'total_gpu_power',
    unit: 'watts',
    definition: 'energy_of_all_gpus_over_window',
    formula: 'total_gpu_energy ÷ (last response − first request): the mean power of all GPUs together',
    direction: 'none',
  },
  idle_gpu_power: {
    measure: 'idle_gpu_power',
    unit: 'watts',
    definition: 'lowest_power_before_first_request',
    formula:
      'lowest power of each GPU before the first request, warm-up included, summed; null unless the servers were idle then',
    direction: 'none',
  },
  energy_per_output_token: {
    measure: 'energy_per_output_token',
    unit: 'joules_per_token',
    definition: 'energy_over_ok_output_tokens',
    formula: 'total_gpu_energy ÷ output tokens of ok requests; idle power is included',
    direction: 'lower',
  },
  energy_per_total_token: {
    measure: 'energy_per_total_token',
    unit: 'joules_per_token',
    definition: 'energy_over_ok_input_and_output_tokens',
    formula: 'total_gpu_energy ÷ input and output tokens of ok requests; idle power is included',
    direction: 'lower',
  },
} as const satisfies Record<string, ScalarMeasure>;

type EnergyName = keyof typeof ENERGY_MEASURES;

/**
 * The energy measures of a run; none when no page reports GPUs. `measures`: those of its client, over the same window.
 * Null is what is not known.
 */
export function energyResults(energy: GpuEnergy | null, measures: readonly MeasureResult[]): ScalarResult[] {
  if (energy === null) return [];
  const values: Record<EnergyName, number | null> = {
    total_gpu_energy: energy.joules,
    total_gpu_power: energy.watts,
    idle_gpu_power: energy.idle_watts,
    // Watts per token per second: both are over the same window.
    energy_per_output_token: quotient(energy.watts, throughputOf(measures, 'output_token_throughput')),
    energy_per_total_token: quotient(energy.watts, throughputOf(measures, 'total_token_throughput')),
  };
  return (Object.keys(ENERGY_MEASURES) as EnergyName[]).map((name) =>
    scalarResult(ENERGY_MEASURES[name], values[name], { origin: 'server' }),
  );
}
