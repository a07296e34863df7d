import type { ScalarResult } from '../run/result.ts';
import type { ScalarMeasure } from './measures.ts';
import { scalarResult } from './scalar-result.ts';

/** What stands in a run's measures and comes from its servers' own counters. */
export const SERVER_MEASURES = {
  server_cached_input_ratio: {
    measure: 'server_cached_input_ratio',
    unit: 'ratio',
    definition: 'server_cached_prompt_tokens_over_prompt_tokens',
    formula: "cached prompt tokens ÷ prompt tokens, from the servers' counters over the measure phase",
    direction: 'none',
  },
} as const satisfies Record<string, ScalarMeasure>;

/** What the servers reported; null is what is not known. */
export interface ServerTotals {
  readonly cachedInputRatio: number | null;
}

export function serverResults({ cachedInputRatio }: ServerTotals): ScalarResult[] {
  const over = { origin: 'server', population: 'all' } as const;
  return [scalarResult(SERVER_MEASURES.server_cached_input_ratio, cachedInputRatio, over)];
}
