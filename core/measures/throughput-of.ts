import type { MeasureResult } from '../run/result.ts';
import { SCALAR_MEASURES } from './scalar-measures.ts';

/** A throughput under its one definition: with another tool's, the tokens are not those of the window. Null: not known. */
export function throughputOf(
  measures: readonly MeasureResult[],
  name: 'output_token_throughput' | 'total_token_throughput',
): number | null {
  const { measure, definition } = SCALAR_MEASURES[name];
  const found = measures.find((each) => each.measure === measure && each.definition === definition);
  return found?.kind === 'scalar' ? found.value : null;
}
