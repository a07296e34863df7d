import { quotient } from '../../../core/measures/scalar-result.ts';
import type { MeasureResult, ScalarResult } from '../../../core/run/result.ts';
import { things } from '../../../core/text/things.ts';
import type { ImportNotes } from '../import-notes.ts';
import type { Fields } from '../reading/fields.ts';
import { limitsText, statedGoodput, statedGoodRatio } from '../stated/stated-goodput.ts';
import type { ListedSurvey } from '../serving-bench/listed-survey.ts';
import { statedDistribution, statedScalar } from '../stated/stated-measures.ts';
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

/** The tool counts a latency to the end of the response. */
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

/** What depends on the tokens of the responses. */
const OF_OUTPUT_TOKENS: ReadonlySet<string> = new Set([
  'inter_token_latency',
  'output_sequence_length',
  'output_token_throughput',
  'total_token_throughput',
]);
/** A tokenizer's count of a text is never so far from the server's, and not so far where its chunks are one token each. */
const MAX_RATIO = 2;
const MAX_RATIO_BESIDE_CHUNKS = 1.5;
const ABOUT_ONE_TOKEN_A_CHUNK = 1.25;

/**
 * The measures, without those of output tokens where these cannot be true: without a usage the tool counts one token or those
 * requested, beside more chunks, or far from the tokens of the text. The tool's tokenizer has counted these: their mean and
 * throughput are used.
 */
export function withoutFalseTokens(
  fields: Fields,
  { ok, survey }: { readonly ok: number | null; readonly survey: ListedSurvey | null },
  measures: readonly MeasureResult[],
  notes: ImportNotes,
): readonly MeasureResult[] {
  const total = fields.count('total_output_tokens') ?? fields.count('total_output');
  const counted = fields.count('total_output_tokens_retokenized') ?? fields.count('total_output_retokenized');
  const tooFew = survey?.tooFewTokens ?? 0;
  const ratio = total === null || counted === null || counted === 0 ? 1 : total / counted;
  const tokensPerChunk = quotient(counted, survey?.chunks ?? null) ?? 0;
  const isOneAChunk = tokensPerChunk >= 1 / ABOUT_ONE_TOKEN_A_CHUNK && tokensPerChunk <= ABOUT_ONE_TOKEN_A_CHUNK;
  const most = isOneAChunk ? MAX_RATIO_BESIDE_CHUNKS : MAX_RATIO;
  if (tooFew === 0 && ratio <= most && ratio >= 1 / most) return measures;
  const why =
    tooFew > 0
      ? `${things(tooFew, 'responses')} have fewer tokens than chunks`
      : `it states ${things(total ?? NaN, 'tokens')} of responses whose text has ${counted ?? NaN}`;
  notes.add(`output tokens are not those of the responses, ${why}: what depends on them is unknown`);
  const others = measures.filter(({ measure }) => !OF_OUTPUT_TOKENS.has(measure));
  if (counted === null || counted === 0) return others;
  notes.add('the mean of the output tokens and their throughput are from the count of the tool’s tokenizer');
  const seconds = fields.amount('duration') ?? fields.amount('benchmark_duration');
  const length = { measure: 'output_sequence_length', definition: 'tokenizer_completion_tokens' };
  const rate = { measure: 'output_token_throughput', definition: 'ok_tokenizer_output_tokens_over_wall_time' };
  return [
    ...others,
    ...(ok === null || ok === 0 ? [] : [statedDistribution(length, { n: ok, mean: counted / ok })]),
    statedScalar(rate, quotient(counted, seconds)),
  ];
}
