import { SCALAR_MEASURES } from '../../core/measures/measures.ts';
import type { Unit } from '../../core/measures/measures.ts';
import type { DistributionResult, MeasureResult, PercentileName } from '../../core/run/result.ts';

/** The field's short names where there are such. */
const SHORT: Readonly<Record<string, string>> = {
  time_to_first_token: 'Time to first token (TTFT)',
  time_to_first_output_token: 'Time to first output token (TTFO)',
  time_to_second_token: 'Time to second token',
  inter_token_latency: 'Inter-token latency (ITL, TPOT)',
  inter_chunk_latency: 'Inter-chunk latency',
  e2e_output_token_throughput: 'End-to-end output tokens per second',
};

/** A measure for people: its name, and what sets it apart from its twins. */
export function measureTitle({ measure, clock }: Pick<MeasureResult, 'measure' | 'clock'>): string {
  const name = SHORT[measure] ?? sentence(measure);
  return clock === 'due' && measure !== 'schedule_delay' ? `${name}, from the due time` : name;
}

/** `output_token_throughput` as `Output token throughput`. */
export function sentence(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Over whom a statistic is taken: said with every one. */
export function populationWords({ population }: Pick<MeasureResult, 'population'>): string {
  return population === 'ok' ? 'ok requests' : 'all requests, the failed ones infinitely slow';
}

/** Why a percentile stands without an interval; null when it has one or bounds instead, or there is no value at all. */
export function tooFew(result: DistributionResult, percentile: PercentileName): string | null {
  const { ci95, bounds, value } = result.percentiles[percentile];
  if (ci95 !== null || bounds !== null || value === null) return null;
  return result.effective_n === null ? 'no interval' : 'too few';
}

const UNITS: Readonly<Record<Unit, string>> = {
  seconds: 's',
  tokens: 'tokens',
  ratio: '%',
  requests: 'requests',
  requests_per_second: 'requests/s',
  tokens_per_second: 'tokens/s',
};

/** The unit as `quantity` writes it. */
export function unitWords(unit: Unit): string {
  return UNITS[unit];
}

/** How a scalar is calculated; the name of its definition when this version does not know it. */
export function formulaOf({ measure, definition }: Pick<MeasureResult, 'measure' | 'definition'>): string {
  const known = Object.values(SCALAR_MEASURES).find((each) => each.measure === measure);
  return known?.definition === definition ? known.formula : definition.replaceAll('_', ' ');
}
