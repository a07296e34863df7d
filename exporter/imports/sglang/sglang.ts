import { quotient } from '../../../core/measures/scalar-measures.ts';
import type { MeasureResult } from '../../../core/run/result.ts';
import { things } from '../../../core/text/quantities.ts';
import type { ImportNotes } from '../import-notes.ts';
import { known, reportedRun } from '../importer.ts';
import type { FileGroup, ImportContext, ImportedRun, Importer, KnownKey, Recognition } from '../importer.ts';
import { Fields } from '../reading/fields.ts';
import type { SourceFile } from '../reading/source-file.ts';
import {
  asStated,
  benchStatistics,
  lengthMeasures,
  benchLoad,
  hasNoLatencies,
  isSample,
  okRequests,
  totalLengths,
} from '../serving-bench/bench-fields.ts';
import { benchRuns, type BenchResult } from '../serving-bench/bench-results.ts';
import { surveyOf, type ListedSurvey } from '../serving-bench/listed-survey.ts';
import { checkStatistics, NUMPY_LINEAR } from '../stated/check-statistics.ts';
import {
  exactStated,
  limitsText,
  statedDistribution,
  statedGoodput,
  statedScalar,
  statedScalars,
  type StatedFigure,
  type ReportedStatistics,
  type StatedIdentity,
} from '../stated/stated-measures.ts';

/** The protocol of SGLang's benchmark, and the contents of its list of gaps. */
interface SglangBackend {
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
function summaryLatencies(
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
function listedLatencies(
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
function totals(fields: Fields): MeasureResult[] {
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
function withoutFalseTokens(
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

/** Lines of SGLang's `bench_serving`, with and without `--output-details`; each line is a run. */
export const SGLANG: Importer = {
  tool: 'sglang',
  recognize,
  // Which lines there are, what the lists are, and what they come to.
  passes: 3,
  read,
};

/** Keys of every version, from before what may be long. */
const SIGNATURE = ['backend', 'request_rate', 'sharegpt_output_len', 'random_range_ratio'] as const;

function recognize({ head: { keys } }: Pick<SourceFile, 'head'>): Recognition | null {
  const isSglang = SIGNATURE.every((key) => keys.includes(key)) && !keys.includes('model_id');
  return isSglang ? { format: 'sglang-bench-serving' } : null;
}

async function* read(group: FileGroup, context: ImportContext): AsyncGenerator<ImportedRun> {
  for (const { file } of group.files) {
    yield* benchRuns(file, context, benchRun);
  }
}

const NATIVE: SglangBackend = { endpoint_type: 'sglang_generate', spreadsGaps: true };
const COMPLETIONS: SglangBackend = { endpoint_type: 'completions', spreadsGaps: false };
const CHAT: SglangBackend = { endpoint_type: 'chat', spreadsGaps: false };

const BACKENDS: Readonly<Record<string, SglangBackend>> = {
  sglang: NATIVE,
  'sglang-native': NATIVE,
  'sglang-oai': COMPLETIONS,
  vllm: COMPLETIONS,
  lmdeploy: COMPLETIONS,
  'sglang-oai-chat': CHAT,
  'vllm-chat': CHAT,
  'lmdeploy-chat': CHAT,
};

function backendOf(name: string | null): SglangBackend {
  const known = name !== null && Object.hasOwn(BACKENDS, name) ? BACKENDS[name] : undefined;
  return known ?? { endpoint_type: null, spreadsGaps: false };
}

/** What is known and of no use here: texts, tokens counted once more, chunks counted as tokens, lengths that were planned. */
const PASSED_OVER = [
  'dataset_name',
  'sharegpt_output_len',
  'random_input_len',
  'random_output_len',
  'random_range_ratio',
  'total_input_text_tokens',
  'total_input_vision_tokens',
  'total_output_tokens_retokenized',
  'total_input',
  'total_output',
  'total_output_retokenized',
  'wall_duration',
  'max_output_tokens_per_s',
  'max_concurrent_requests',
  'cached_tokens',
  'cached_tokens_details',
] as const;

/** Known, whether it was of use or not. */
const LATENCY_FIELD = /^(mean|median|std|max|p\d+)_(e2e_latency|ttft|tpot|itl)(_ms)?$/;

/** One line of SGLang's `bench_serving`. */
export async function benchRun({ value, lists, part, sha256, notes }: BenchResult): Promise<ImportedRun> {
  const fields = new Fields(value, notes);
  const backend = backendOf(fields.text('backend'));
  const survey = lists.areUsable(fields, notes) ? await surveyOf(lists, null, notes) : null;
  const completed = fields.count('completed');
  const ok = okRequests(completed, survey, notes);
  const server = fields.object('server_info');
  const key = keyOf(fields, backend, server, survey);
  notes.add(
    'the tool keeps no time of day and no time of sending per request: the run has no start time and no records',
  );
  notes.add('output tokens are reported by the server, or those requested: the file does not state which');
  const measures = [
    ...latencies(fields, backend, survey, completed, notes),
    ...totals(fields),
    ...totalLengths(fields, ok, survey, notes),
  ];
  const run = reportedRun({
    part,
    sha256,
    tool: 'sglang',
    format: 'sglang-bench-serving',
    scenario: fields.text('tag'),
    target: { system: server === null ? null : 'sglang', system_version: server?.text('version') ?? null },
    key,
    stated: {
      window_seconds: fields.amount('duration') ?? fields.amount('benchmark_duration'),
      requests: { ok, error: survey === null ? null : survey.requests - survey.ok },
      errors: survey?.errors ?? {},
      measures: withoutFalseTokens(fields, { ok, survey }, measures, notes),
    },
    notes,
  });
  fields.ignore(...PASSED_OVER, ...fields.names.filter((name) => LATENCY_FIELD.test(name)));
  fields.noteUnread();
  return run;
}

function latencies(
  fields: Fields,
  backend: SglangBackend,
  survey: ListedSurvey | null,
  completed: number | null,
  notes: ImportNotes,
): MeasureResult[] {
  if (hasNoLatencies(completed ?? survey?.ok ?? null, notes)) return [];
  return survey === null || isSample(survey, completed)
    ? summaryLatencies(fields, backend, completed, notes)
    : listedLatencies(fields, survey, backend, notes);
}

function keyOf(fields: Fields, backend: SglangBackend, server: Fields | null, survey: ListedSurvey | null): KnownKey {
  const load = benchLoad(fields, 1);
  fields.ignore('request_rate', 'max_concurrency');
  const model = server?.text('served_model_name') ?? server?.text('model_path');
  return {
    ...known({ endpoint_type: backend.endpoint_type, model, load }),
    ...(survey !== null && {
      stop: { request_count: survey.requests, benchmark_duration_seconds: null },
      streaming: survey.isStreamed,
    }),
  };
}
