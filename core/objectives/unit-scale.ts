import type { Unit } from '../run/statistic.ts';

/** The units that a limit may be written in, each with its size in the base unit. */
export const UNIT_SCALES: Readonly<Record<Unit, Readonly<Record<string, number>>>> = {
  seconds: { ns: 1e-9, us: 1e-6, µs: 1e-6, ms: 1e-3, s: 1 },
  ratio: { '%': 0.01 },
  tokens: { tokens: 1 },
  requests: { requests: 1 },
  requests_per_second: { 'requests/s': 1 },
  tokens_per_second: { 'tokens/s': 1 },
  joules: { kJ: 1e3, J: 1 },
  watts: { kW: 1e3, W: 1 },
  cost_per_million_tokens: { '/Mtoken': 1 },
  joules_per_token: { 'mJ/token': 1e-3, 'J/token': 1 },
};

/** A number times a power of ten as it is written: 300 ms is 0.3 s and not 0.30000000000000004. */
export function scaled(number: number, scale: number): number {
  return Number((number * scale).toPrecision(15));
}
