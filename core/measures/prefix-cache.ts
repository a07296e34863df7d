import type { MeasureResult, PrefixCacheResult, ScalarResult } from '../run/result.ts';
import { scalarResult } from './scalar-measures.ts';
import { PLAN_MEASURES, SERVER_MEASURES } from './scalar-results.ts';

/** What a prefix cache of unlimited size would have held of the prompts of a run, in planned tokens. */
export interface PlannedReuse {
  readonly cached: number;
  readonly prompt: number;
  /** Tokens of a block: only whole blocks are reused. */
  readonly blockTokens: number;
}

/** The share as a measure; none when the plan does not know it. */
export function plannedReuseResults(reuse: PlannedReuse | null): ScalarResult[] {
  if (reuse === null) return [];
  return [scalarResult(PLAN_MEASURES.possible_cached_input_ratio, reuse.cached / reuse.prompt, { population: 'all' })];
}

/** A measured share that is lower than the possible one by more than this is explained. */
const FAR_BELOW = 0.05;

/** The possible share beside the measured ones, and why they are far below it. `signs`: what the servers say, a line each. */
export function prefixCacheResult(
  { cached, prompt, blockTokens }: PlannedReuse,
  measures: readonly MeasureResult[],
  signs: readonly string[],
): PrefixCacheResult {
  const ratioOf = (name: string): number | null => {
    const found = measures.find(({ measure }) => measure === name);
    return found?.kind === 'scalar' ? found.value : null;
  };
  const possible = cached / prompt;
  const usage = ratioOf('cached_input_ratio');
  const servers = ratioOf(SERVER_MEASURES.server_cached_input_ratio.measure);
  const measured = servers ?? usage;
  const isFarBelow = measured !== null && possible - measured > FAR_BELOW;
  return {
    block_tokens: blockTokens,
    possible_ratio: possible,
    usage_ratio: usage,
    server_ratio: servers,
    why: isFarBelow ? (signs.length > 0 ? signs : [NO_SIGN]) : [],
  };
}

const NO_SIGN = 'the servers report no eviction, and nothing else that explains it';
