import type { MeasureResult, ScalarResult } from '../run/result.ts';
import type { ScalarMeasure } from './measures.ts';
import { SCALAR_MEASURES } from './scalar-measures.ts';

/** A value of a measure that is one number: of the client, over the ok requests, unless `others` state otherwise. */
export function scalarResult(
  { measure, unit, definition }: ScalarMeasure,
  value: number | null,
  others: Partial<Pick<ScalarResult, 'definition' | 'origin' | 'population'>> = {},
): ScalarResult {
  const identity = { measure, unit, definition, origin: 'client', population: 'ok', clock: 'sent' } as const;
  return { ...identity, ...others, kind: 'scalar', value };
}

/** Null when a side is not known or there is nothing to divide by. */
export function quotient(amount: number | null, divisor: number | null): number | null {
  return amount === null || divisor === null || divisor <= 0 ? null : amount / divisor;
}

/** A throughput under its one definition: with another tool's, the tokens are not those of the window. Null: not known. */
export function throughputOf(
  measures: readonly MeasureResult[],
  name: 'output_token_throughput' | 'total_token_throughput',
): number | null {
  const { measure, definition } = SCALAR_MEASURES[name];
  const found = measures.find((each) => each.measure === measure && each.definition === definition);
  return found?.kind === 'scalar' ? found.value : null;
}
