import type { GpuPrice } from '../run/gpu-price.ts';
import type { MeasureResult, ScalarResult } from '../run/result.ts';
import type { ScalarMeasure } from './measures.ts';
import { quotient, scalarResult, throughputOf } from './scalar-result.ts';

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
