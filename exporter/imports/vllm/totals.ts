import type { ScalarResult } from '../../../core/run/result.ts';
import type { Fields } from '../reading/fields.ts';
import { statedScalar } from '../stated/stated-measures.ts';
import type { StatedIdentity } from '../stated/stated-measures.ts';

/** Each key with its measure and the factor to base units. */
const SCALARS: Readonly<Record<string, readonly [StatedIdentity, number]>> = {
  request_throughput: [{ measure: 'request_throughput', definition: 'ok_requests_over_wall_time' }, 1],
  output_throughput: [
    { measure: 'output_token_throughput', definition: 'output_tokens_of_unknown_source_over_wall_time' },
    1,
  ],
  input_throughput: [
    { measure: 'input_token_throughput', definition: 'input_tokens_of_unknown_source_over_wall_time' },
    1,
  ],
  total_token_throughput: [
    { measure: 'total_token_throughput', definition: 'tokens_of_unknown_source_over_wall_time' },
    1,
  ],
  request_goodput: [
    { measure: 'goodput', definition: 'good_requests_of_unknown_limits_over_wall_time', unit: 'requests_per_second' },
    1,
  ],
  // A percentage, from the server's counters before and after.
  spec_decode_acceptance_rate: [
    {
      measure: 'draft_token_acceptance_ratio',
      definition: 'accepted_over_drafted_tokens',
      unit: 'ratio',
      origin: 'server',
    },
    0.01,
  ],
  spec_decode_acceptance_length: [
    {
      measure: 'accepted_tokens_per_step',
      definition: 'one_plus_accepted_over_drafts',
      unit: 'tokens',
      origin: 'server',
    },
    1,
  ],
};

const COUNTS = [
  'spec_decode_num_drafts',
  'spec_decode_draft_tokens',
  'spec_decode_accepted_tokens',
  'spec_decode_per_position_acceptance_rates',
] as const;

/** What the result reports of the run as a whole; what it does not report is absent. */
export function totals(fields: Fields): ScalarResult[] {
  fields.ignore(...COUNTS);
  return Object.entries(SCALARS).flatMap(([name, [identity, factor]]) => {
    const value = fields.amount(name);
    return value === null ? [] : [statedScalar(identity, value, factor)];
  });
}
