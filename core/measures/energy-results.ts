import type { GpuPrice } from '../run/provenance.ts';
import type { GpuEnergy, MeasureResult, ScalarResult } from '../run/result.ts';
import type { ScalarMeasure } from './measures.ts';
import { quotient, scalarResult, throughputOf } from './scalar-measures.ts';

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

/** What a GPU reported at a moment: joules since any start, or watts. */
export interface GpuReading {
  /** On the clock of the window. */
  readonly at_seconds: number;
  readonly value: number;
}

/** Seconds on any clock; `end_seconds` is the later. */
export interface EnergyWindow {
  readonly start_seconds: number;
  readonly end_seconds: number;
}

/** The energy of one GPU in a window. */
export interface WindowEnergy {
  readonly joules: number;
  /** Longest time between two readings that overlaps the window: what happened within it is not known. */
  readonly resolution_seconds: number;
}

/**
 * Energy in the window from a counter of energy. `changes`: the moments at which the counter had a new value, ascending;
 * linear between them. An exporter that reads its GPUs every 30 s shows a value that is up to 30 s old: therefore an edge
 * that no reading reaches is extrapolated from the nearest two readings, by at most the longest time between two.
 *
 * Null: fewer than two readings, a window farther away from them than that, or a counter that decreased.
 */
export function energyFromCounter(changes: readonly GpuReading[], window: EnergyWindow): WindowEnergy | null {
  const known = reach(changes, window);
  if (known === null || changes.some(({ value }, i) => i > 0 && value < (changes[i - 1]?.value ?? NaN))) return null;
  const at = (seconds: number): number => {
    const i = segmentAt(changes, seconds);
    const [from, to] = [changes[i] as GpuReading, changes[i + 1] as GpuReading];
    return from.value + ((to.value - from.value) * (seconds - from.at_seconds)) / (to.at_seconds - from.at_seconds);
  };
  return { joules: at(window.end_seconds) - at(window.start_seconds), resolution_seconds: known };
}

/**
 * Energy in the window from readings of the power, ascending in time: the integral of the line through them
 * (trapezoids). Before the first and after the last reading the power is held, by at most the longest time between two
 * readings. Null as above.
 */
export function energyFromPower(readings: readonly GpuReading[], window: EnergyWindow): WindowEnergy | null {
  const known = reach(readings, window);
  const [first, last] = [readings[0], readings.at(-1)];
  if (known === null || first === undefined || last === undefined) return null;
  const { start_seconds: start, end_seconds: end } = window;
  let joules =
    first.value * Math.max(0, Math.min(first.at_seconds, end) - start) +
    last.value * Math.max(0, end - Math.max(last.at_seconds, start));
  for (let i = 1; i < readings.length; i++) {
    const [a, b] = [readings[i - 1] as GpuReading, readings[i] as GpuReading];
    const [from, to] = [Math.max(a.at_seconds, start), Math.min(b.at_seconds, end)];
    if (to <= from) continue;
    const watts = (seconds: number): number =>
      a.value + ((b.value - a.value) * (seconds - a.at_seconds)) / (b.at_seconds - a.at_seconds);
    joules += ((watts(from) + watts(to)) / 2) * (to - from);
  }
  return { joules, resolution_seconds: known };
}

/** The resolution in the window; null when the readings do not cover it. */
function reach(readings: readonly GpuReading[], { start_seconds, end_seconds }: EnergyWindow): number | null {
  const [first, last] = [readings[0], readings.at(-1)];
  if (first === undefined || last === undefined || readings.length < 2 || end_seconds <= start_seconds) return null;
  let longest = 0;
  let inWindow = 0;
  for (let i = 1; i < readings.length; i++) {
    const [a, b] = [readings[i - 1]?.at_seconds ?? NaN, readings[i]?.at_seconds ?? NaN];
    longest = Math.max(longest, b - a);
    if (b > start_seconds && a < end_seconds) inWindow = Math.max(inWindow, b - a);
  }
  const before = first.at_seconds - start_seconds;
  const after = end_seconds - last.at_seconds;
  // Rounding: two readings at the grid of the exporter are not farther apart than that grid.
  const most = longest * 1.001;
  return before > most || after > most ? null : Math.max(inWindow, before, after);
}

/** The index of the reading that begins the segment that contains a moment, or the segment nearest to it. */
function segmentAt(readings: readonly GpuReading[], seconds: number): number {
  let i = 0;
  while (i + 2 < readings.length && (readings[i + 1]?.at_seconds ?? NaN) <= seconds) i += 1;
  return i;
}

/** What the GPUs cost, at the throughput of the run. The definition also names the currency. */
export const COST_MEASURES = {
  cost_per_million_output_tokens: {
    measure: 'cost_per_million_output_tokens',
    unit: 'cost_per_million_tokens',
    definition: 'price_of_gpu_time_over_ok_output_tokens',
    formula: 'GPUs × price of a GPU hour × window ÷ output tokens of ok requests, for a million tokens',
    direction: 'lower',
  },
  cost_per_million_total_tokens: {
    measure: 'cost_per_million_total_tokens',
    unit: 'cost_per_million_tokens',
    definition: 'price_of_gpu_time_over_ok_input_and_output_tokens',
    formula: 'GPUs × price of a GPU hour × window ÷ input and output tokens of ok requests, for a million tokens',
    direction: 'lower',
  },
} as const satisfies Record<string, ScalarMeasure>;

type CostName = keyof typeof COST_MEASURES;

const SECONDS_PER_HOUR = 3600;
const TOKENS = 1e6;

/**
 * The cost measures of a run; none without a price. `gpus`: how many GPUs served it; null: not known, then no cost is.
 * `measures`: those of its client.
 */
export function costResults(
  price: GpuPrice | null,
  gpus: number | null,
  measures: readonly MeasureResult[],
): ScalarResult[] {
  if (price === null) return [];
  const perSecond = gpus === null ? null : (gpus * price.per_hour) / SECONDS_PER_HOUR;
  const perMillion = (tokensPerSecond: number | null): number | null => {
    const perToken = quotient(perSecond, tokensPerSecond);
    return perToken === null ? null : perToken * TOKENS;
  };
  const values: Record<CostName, number | null> = {
    cost_per_million_output_tokens: perMillion(throughputOf(measures, 'output_token_throughput')),
    cost_per_million_total_tokens: perMillion(throughputOf(measures, 'total_token_throughput')),
  };
  return (Object.keys(COST_MEASURES) as CostName[]).map((name) => {
    const { definition } = COST_MEASURES[name];
    const own = price.currency === null ? definition : `${definition}_in_${price.currency.toLowerCase()}`;
    return scalarResult(COST_MEASURES[name], values[name], { definition: own });
  });
}

/** The currency of a cost, from its definition; null: not stated. */
export function currencyOf({ definition }: Pick<ScalarResult, 'definition'>): string | null {
  return /_in_([a-z]{3})$/.exec(definition)?.[1]?.toUpperCase() ?? null;
}
