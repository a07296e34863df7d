import type { MeasureResult, ScalarResult } from '../../../core/run/result.ts';

/** Undefined: the run does not have it. */
export function scalarOf(measures: readonly MeasureResult[], measure: string): ScalarResult | undefined {
  return measures.find((each): each is ScalarResult => each.kind === 'scalar' && each.measure === measure);
}
