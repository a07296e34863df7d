import { exactDistribution } from '../../../core/measures/distribution-result.ts';
import type { DistributionMeasure } from '../../../core/measures/measures.ts';
import type { DistributionResult } from '../../../core/run/result.ts';
import { statedDistribution } from './stated-measures.ts';
import type { StatedIdentity } from './stated-measures.ts';

/**
 * Exact statistics of a measure whose values a file holds without the times of their requests; `values` in base units
 * and in the order in which the requests were due. Null without values.
 */
export function exactStated(identity: StatedIdentity, values: Float64Array): DistributionResult | null {
  if (values.length === 0) return null;
  const { population, origin } = statedDistribution(identity, { n: values.length });
  return { ...exactDistribution(statedFacts(identity), population, values), origin };
}

/** What the statistics of core/measures require of a measure that a file states. */
export function statedFacts(identity: StatedIdentity): DistributionMeasure {
  const { measure, unit, definition, clock } = statedDistribution(identity, { n: null });
  return { measure, unit, definition, clock, formula: '', direction: 'none', value: null };
}
