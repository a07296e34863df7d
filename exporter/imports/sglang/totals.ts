import type { ScalarResult } from '../../../core/run/result.ts';
import type { Fields } from '../reading/fields.ts';
import { limitsText, statedGoodput, statedGoodRatio } from '../stated/stated-goodput.ts';
import { statedScalar } from '../stated/stated-measures.ts';
import type { StatedIdentity } from '../stated/stated-measures.ts';

const OUTPUT: StatedIdentity = {
  measure: 'output_token_throughput',
  definition: 'output_tokens_of_unknown_source_over_wall_time',
};

const SCALARS: readonly (readonly [string, StatedIdentity])[] = [
  ['request_throughput', { measure: 'request_throughput', definition: 'ok_requests_over_wall_time' }],
  ['output_throughput', OUTPUT],
  // Of early versions.
  ['output_token_throughput', OUTPUT],
  [
    'input_throughput',
    { measure: 'input_token_throughput', definition: 'input_tokens_of_unknown_source_over_wall_time' },
  ],
  ['total_throughput', { measure: 'total_token_throughput', definition: 'tokens_of_unknown_source_over_wall_time' }],
  ['concurrency', { measure: 'effective_concurrency', definition: 'ok_request_time_over_wall_time' }],
  [
    'accept_length',
    {
      measure: 'accepted_tokens_per_step',
      definition: 'server_mean_accept_length',
      unit: 'tokens',
      origin: 'server',
    },
  ],
];

/** What a result reports of the run as a whole; what it does not report is absent. */
export function totals(fields: Fields): ScalarResult[] {
  const scalars = SCALARS.flatMap(([name, identity]) => {
    const value = fields.amount(name);
    return value === null ? [] : [statedScalar(identity, value)];
  });
  const cached = cachedRatio(fields.object('cache_report'));
  return [...scalars, ...(cached === null ? [] : [cached]), ...goodput(fields)];
}

/** The tool counts a latency to the end of the answer. */
function goodput(fields: Fields): ScalarResult[] {
  fields.ignore('slo_attainment_by_metric');
  const rate = fields.amount('request_goodput');
  const share = fields.amount('slo_attainment');
  const limits = fields.object('goodput_slos_ms');
  if (limits === null) return [];
  const text = limitsText(limits);
  return [
    ...(rate === null ? [] : [statedGoodput(rate, 'wall_time', text)]),
    ...(share === null ? [] : [statedGoodRatio(share, 'sent', text)]),
  ];
}

function cachedRatio(report: Fields | null): ScalarResult | null {
  const prompt = report?.amount('total_prompt_tokens') ?? null;
  const cached = report?.amount('total_cached_tokens') ?? null;
  if (prompt === null || cached === null || prompt === 0) return null;
  return statedScalar(
    { measure: 'cached_input_ratio', definition: 'usage_cached_tokens_over_prompt_tokens' },
    cached / prompt,
  );
}
