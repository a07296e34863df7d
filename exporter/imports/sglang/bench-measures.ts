import { quotient } from '../../../core/measures/scalar-result.ts';
import type { MeasureResult } from '../../../core/run/result.ts';
import { things } from '../../../core/text/things.ts';
import { asStated, benchStatistics, lengthMeasures } from '../serving-bench/bench-fields.ts';
import { checkStatistics, NUMPY_LINEAR } from '../stated/check-statistics.ts';
import type { Fields } from '../reading/fields.ts';
import type { ImportNotes } from '../import-notes.ts';
import type { ListedSurvey } from '../serving-bench/listed-survey.ts';
import {
  exactStated,
  limitsText,
  statedDistribution,
  statedGoodput,
  statedScalar,
  statedScalars,
} from '../stated/stated-measures.ts';
import type { StatedFigure, ReportedStatistics, StatedIdentity } from '../stated/stated-measures.ts';

/** The protocol of SGLang's benchmark, and the contents of its list of gaps. */
export interface SglangBackend {
  /** As our own runs name it; null when llmbench does not have this endpoint. */
  readonly endpoint_type: string | null;
  /** A gap is spread over the tokens that its chunk brought: the gaps of the chunks themselves are not available. */
  readonly spreadsGaps: boolean;
}

const TTFT: StatedIdentity = { measure: 'time_to_first_token', definition: 'sent_to_first_content_chunk' };
const LATENCY: StatedIdentity = { measure: 'request_latency', definition: 'sent_to_last_content_chunk' };
const TOOL_LATENCY: StatedIdentity = { measure: 'request_latency', definition: 'sent_to_end_of_answer' };
const OF_TOKENS = 'tokens_of_unknown_source';
const TPOT: StatedIdentity = { measure: 'inter_token_latency', definition: `per_request_mean_${OF_TOKENS}` };
const TOOL_TPOT: StatedIdentity = {
  ...TPOT,
  definition: `per_request_mean_to_end_of_answer_${OF_TOKENS}`,
};
const GAPS: StatedIdentity = { measure: 'inter_chunk_latency', definition: 'gap_between_content_chunks' };
const SPREAD_GAPS: StatedIdentity = { measure: 'inter_chunk_latency', definition: 'gap_spread_over_its_tokens' };

/** What the summary reports: the end of a request is that of its response, `[DONE]` included. `n`: ok requests. */
export function summaryLatencies(
  fields: Fields,
  backend: SglangBackend,
  n: number | null,
  notes: ImportNotes,
): MeasureResult[] {
  const gaps = statistics(fields, 'itl');
  const reported: (readonly [StatedIdentity, ReportedStatistics | null, number | null])[] = [
    [TTFT, gaps === null ? unstreamed(fields, notes) : statistics(fields, 'ttft'), n],
    [TOOL_TPOT, statistics(fields, 'tpot'), null],
    [retokenizes(fields, backend) ? SPREAD_GAPS : gapsOf(backend), gaps, null],
    [TOOL_LATENCY, statistics(fields, 'e2e_latency'), n],
  ];
  return reported.flatMap(([identity, found, count]) =>
    found === null ? [] : [statedDistribution(identity, asStated(found, count))],
  );
}

/**
 * The latencies of the ok requests, exact, from the lists that `--output-details` adds: these end with the last chunk with
 * content. The summary is compared with them.
 */
export function listedLatencies(
  fields: Fields,
  survey: ListedSurvey,
  backend: SglangBackend,
  notes: ImportNotes,
): MeasureResult[] {
  const lengths = lengthMeasures(survey);
  if (!survey.isStreamed) {
    notes.add('responses were not streamed: what the tool reports as time to first token is the whole latency');
    const stated = summaryLatencies(fields, backend, survey.ok, notes);
    return [...stated.filter(({ measure }) => measure === LATENCY.measure), ...lengths];
  }
  const { ttft, tpot, itl, e2el } = survey.byChunk;
  const firsts = ttft.toArray();
  const stated = statistics(fields, 'ttft');
  if (stated !== null) checkStatistics('ttft', stated, firsts, NUMPY_LINEAR, notes);
  const reported = retokenizes(fields, backend) ? null : statistics(fields, 'itl');
  if (reported !== null) itl.check('itl', reported, notes);
  const exact = [
    exactStated(TTFT, firsts),
    exactStated(TPOT, tpot.toArray()),
    itl.stated(gapsOf(backend)),
    exactStated(LATENCY, e2el.toArray()),
  ];
  return [...exact.filter((result) => result !== null), ...lengths];
}

function gapsOf({ spreadsGaps }: SglangBackend): StatedIdentity {
  return spreadsGaps ? SPREAD_GAPS : GAPS;
}

/** With speculative decoding the summary's gaps are spread over the tokens of their chunks, counted by a tokenizer. */
function retokenizes(fields: Fields, { spreadsGaps }: SglangBackend): boolean {
  return !spreadsGaps && (fields.amount('accept_length') ?? 0) > 0;
}

function unstreamed(fields: Fields, notes: ImportNotes): null {
  const said = statistics(fields, 'ttft') !== null;
  if (said) notes.add('no gap between chunks: the time to first token may be the whole latency, and is ignored');
  return null;
}

/** Early versions left the `_ms` out of the names; the values were milliseconds already. */
function statistics(fields: Fields, metric: string): ReportedStatistics | null {
  return benchStatistics(fields, metric) ?? benchStatistics(fields, metric, 'ms without suffix');
}

const SCALARS: readonly StatedFigure[] = [
  ['request_throughput', 'request_throughput', 'ok_requests_over_wall_time'],
  ['output_throughput', 'output_token_throughput', 'output_tokens_of_unknown_source_over_wall_time'],
  // Of early versions.
  ['output_token_throughput', 'output_token_throughput', 'output_tokens_of_unknown_source_over_wall_time'],
  ['input_throughput', 'input_token_throughput', 'input_tokens_of_unknown_source_over_wall_time'],
  ['total_throughput', 'total_token_throughput', 'tokens_of_unknown_source_over_wall_time'],
  ['concurrency', 'effective_concurrency', 'ok_request_time_over_wall_time'],
  ['accept_length', 'accepted_tokens_per_step', 'server_mean_accept_length', { unit: 'tokens', origin: 'server' }],
];

const CACHED = { measure: 'cached_input_ratio', definition: 'usage_cached_tokens_over_prompt_tokens' };

/** What a result reports of the run as a whole; what it does not report is absent. */
export function totals(fields: Fields): MeasureResult[] {
  const report = fields.at('cache_report');
  const cached = quotient(report.amount('total_cached_tokens'), report.amount('total_prompt_tokens'));
  const limits = fields.object('goodput_slos_ms');
  const [rate, share] = [fields.amount('request_goodput'), fields.amount('slo_attainment')];
  fields.ignore('slo_attainment_by_metric');
  return [
    ...statedScalars((name) => fields.amount(name), SCALARS),
    ...(cached === null ? [] : [statedScalar(CACHED, cached)]),
    // The tool counts a latency to the end of the response.
    ...(limits === null ? [] : statedGoodput([rate, 'wall_time'], [share, 'sent'], limitsText(limits))),
  ];
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
