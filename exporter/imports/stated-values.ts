import { exactDistribution } from '../../core/measures/distribution-result.ts';
import type { DistributionResult } from '../../core/run/result.ts';
import { statedDistribution } from './stated-measures.ts';
import type { StatedIdentity } from './stated-measures.ts';

/**
 * Exact statistics of a measure whose values a file holds without the times of their requests; `values` in base units and
 * in the order in which the requests were due. Null without values.
 */
export function exactStated(identity: StatedIdentity, values: Float64Array): DistributionResult | null {
  if (values.length === 0) return null;
  const { measure, unit, definition, clock, population, origin } = statedDistribution(identity, { n: values.length });
  const facts = { measure, unit, definition, clock, formula: '', direction: 'none', value: null } as const;
  return { ...exactDistribution(facts, population, values), origin };
}
