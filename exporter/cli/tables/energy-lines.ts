import type { EnergyOfGpu, GpuEnergy, MeasureResult } from '../../../core/run/result.ts';
import { quantity, significant } from '../../../core/text/quantities.ts';
import { things } from '../../../core/text/things.ts';
import { scalarOf } from './scalar-of.ts';

/** More GPUs are listed in result.json only. */
const MOST_LISTED = 8;
/** A reading must be this many times shorter than the window for its edges not to matter. */
const ENOUGH_READINGS = 10;

const SOURCES = { energy_counter: 'from energy counters', power: 'from power over time' } as const;

/**
 * The energy of all GPUs, by what was generated with it, and of each. `coolDown`: number of requests that the GPUs served
 * besides the measured ones.
 */
export function energyFacts(
  energy: GpuEnergy,
  measures: readonly MeasureResult[],
  coolDown = 0,
): [name: string, text: string][] {
  const [perOutput, perTotal] = ['energy_per_output_token', 'energy_per_total_token'].map(
    (measure) => scalarOf(measures, measure)?.value ?? null,
  );
  const { joules, watts, idle_watts: idle, gpus, source, by_gpu } = energy;
  const parts = [
    joules === null
      ? `unknown: too few readings of ${things(gpus, 'GPUs')} in the window`
      : `${quantity(joules, 'joules')} by ${things(gpus, 'GPUs')}${source === null ? '' : `, ${SOURCES[source]}`}`,
    ...(watts === null ? [] : [`mean power ${quantity(watts, 'watts')}`]),
    ...(idle === null ? [] : [`idle power before the run ${quantity(idle, 'watts')}`]),
    ...(perOutput == null ? [] : [`${significant(perOutput)} J per output token`]),
    ...(perTotal == null ? [] : [`${significant(perTotal)} J per token in total`]),
    ...(coolDown === 0
      ? []
      : [`also for ${things(coolDown, 'requests')} of the cool-down, whose tokens are not counted`]),
    ...coarse(energy),
  ];
  const each = by_gpu.length < 2 || by_gpu.length > MOST_LISTED ? [] : by_gpu.map(gpuText);
  return [parts.join(' · '), ...each].map((text, i) => [i === 0 ? 'energy' : '', text]);
}

function coarse({ joules, watts, resolution_seconds: resolution }: GpuEnergy): string[] {
  if (joules === null || watts === null || resolution === null) return [];
  const seconds = joules / watts;
  if (!(resolution * ENOUGH_READINGS > seconds)) return [];
  return [`an estimate: readings up to ${quantity(resolution, 'seconds')} apart`];
}

function gpuText({ gpu, model, joules, watts, idle_watts }: EnergyOfGpu): string {
  const idle = idle_watts === null ? '' : `, idle ${quantity(idle_watts, 'watts')}`;
  return `${gpu}${model === null ? '' : `  ${model}`}  ${quantity(joules, 'joules')}, ${quantity(watts, 'watts')}${idle}`;
}
