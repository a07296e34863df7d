import type { RequestRecord } from '../../../core/run/record.ts';
import type { MeasureResult } from '../../../core/run/result.ts';
import { things } from '../../../core/text/quantities.ts';
import { ImportNotes } from '../import-notes.ts';
import { known, reportedRun, UNREPORTED, type ImportContext, type ImportedRun, type KnownKey } from '../importer.ts';
import { Fields } from '../reading/fields.ts';
import { howEnded } from '../reading/python-error.ts';
import { statedTime, wallInstant } from '../reading/wall-time.ts';
import {
  asStated,
  benchStatistics,
  benchUnit,
  benchLoad,
  hasNoLatencies,
  isSample,
  lengthMeasures,
  okRequests,
  totalLengths,
} from '../serving-bench/bench-fields.ts';
import type { BenchResult } from '../serving-bench/bench-results.ts';
import {
  surveyOf,
  type ListedSurvey,
  chunkTimes_s,
  type ListedRequest,
  type RequestLists,
} from '../serving-bench/listed-survey.ts';
import { checkStatistics, NUMPY_LINEAR } from '../stated/check-statistics.ts';
import {
  exactStated,
  statedDistribution,
  statedScalars,
  type StatedFigure,
  type StatedIdentity,
} from '../stated/stated-measures.ts';

/** The protocol of `vllm bench serve`, and what it counts as a token. */
interface VllmBackend {
  /** As our own runs name it; null when llmbench does not have this endpoint. */
  readonly endpoint_type: string | null;
  /** Every chunk that it counts carries tokens, except one that may close the response. */
  readonly countsTokenChunks: boolean;
  /** Whether the response may end with a chunk that carries no token, and is counted. */
  readonly hasClosingChunk: boolean;
}

const COMPLETIONS: VllmBackend = { endpoint_type: 'completions', countsTokenChunks: true, hasClosingChunk: true };

/** Counts the first chunk of any kind, which for most servers names the role and carries no token. */
const CHAT: VllmBackend = { endpoint_type: 'chat', countsTokenChunks: false, hasClosingChunk: true };

const ANY_CHUNK: VllmBackend = { endpoint_type: null, countsTokenChunks: false, hasClosingChunk: true };
const TOKENS_ONLY: VllmBackend = { endpoint_type: null, countsTokenChunks: true, hasClosingChunk: false };

const BACKENDS: Readonly<Record<string, VllmBackend>> = {
  vllm: COMPLETIONS,
  openai: COMPLETIONS,
  lmdeploy: COMPLETIONS,
  scalellm: COMPLETIONS,
  sglang: COMPLETIONS,
  'llama.cpp': COMPLETIONS,
  'openai-chat': CHAT,
  'openai-audio': { ...CHAT, endpoint_type: null },
  'openai-responses': { ...TOKENS_ONLY, endpoint_type: 'responses' },
  'tensorrt-llm': TOKENS_ONLY,
  tgi: TOKENS_ONLY,
};

/** Of one that is not known nothing is promised. */
function backendOf(name: string | null): VllmBackend {
  return (name !== null && Object.hasOwn(BACKENDS, name) ? BACKENDS[name] : undefined) ?? ANY_CHUNK;
}

/**
 * When the chunks with content came, in seconds since the request was sent; null when the file does not report which of the
 * chunks have content. One chunk more than tokens is the one that closes the response: the tool counts it, it has no content.
 */
function contentTimes_s(request: ListedRequest, backend: VllmBackend): readonly number[] | null {
  if (!backend.countsTokenChunks) return null;
  const times = chunkTimes_s(request);
  return closesEmpty(request, backend) ? times.slice(0, -1) : times;
}

/** Whether the last chunk that the tool counted cannot have carried a token. */
function closesEmpty({ gaps_s, first_s, output_tokens }: ListedRequest, backend: VllmBackend): boolean {
  if (!backend.hasClosingChunk || first_s === null || output_tokens === null) return false;
  return gaps_s.length + 1 === output_tokens + 1;
}

type Metric = 'ttft' | 'tpot' | 'itl' | 'e2el';

interface Definitions {
  readonly measure: string;
  /** Of values taken from the chunks with content alone. */
  readonly byContent: string;
  /** Of the tool's own figures: a response may end with a chunk without content. */
  readonly byTokenChunk: string;
  /** Of the tool's own figures where it also takes a first chunk without content for a token. */
  readonly byAnyChunk: string;
}

const definitions = (measure: string, byContent: string, byTokenChunk: string, byAnyChunk: string): Definitions => ({
  ...{ measure, byContent, byTokenChunk, byAnyChunk },
});

const PER_REQUEST = 'per_request_mean_tokens_of_unknown_source';
const BETWEEN_CHUNKS = 'per_request_mean_between_chunks_tokens_of_unknown_source';
const FIRST_CONTENT = 'sent_to_first_content_chunk';
const LAST = 'sent_to_last_chunk';
const GAP = 'gap_between_chunks';

const LATENCIES: Readonly<Record<Metric, Definitions>> = {
  ttft: definitions('time_to_first_token', FIRST_CONTENT, FIRST_CONTENT, 'sent_to_first_chunk'),
  tpot: definitions('inter_token_latency', PER_REQUEST, PER_REQUEST, BETWEEN_CHUNKS),
  itl: definitions('inter_chunk_latency', 'gap_between_content_chunks', GAP, GAP),
  e2el: definitions('request_latency', 'sent_to_last_content_chunk', LAST, LAST),
};
const METRICS = Object.keys(LATENCIES) as Metric[];

/** What the result reports of the run as a whole. */
const SCALARS: readonly StatedFigure[] = [
  ['request_throughput', 'request_throughput', 'ok_requests_over_wall_time'],
  ['output_throughput', 'output_token_throughput', 'output_tokens_of_unknown_source_over_wall_time'],
  ['input_throughput', 'input_token_throughput', 'input_tokens_of_unknown_source_over_wall_time'],
  ['total_token_throughput', 'total_token_throughput', 'tokens_of_unknown_source_over_wall_time'],
  ['request_goodput', 'goodput', 'good_requests_of_unknown_limits_over_wall_time', { unit: 'requests_per_second' }],
  // A percentage, from the server's counters before and after.
  [
    'spec_decode_acceptance_rate',
    'draft_token_acceptance_ratio',
    'accepted_over_drafted_tokens',
    { unit: 'ratio', origin: 'server', scale: 0.01 },
  ],
  [
    'spec_decode_acceptance_length',
    'accepted_tokens_per_step',
    'one_plus_accepted_over_drafts',
    { unit: 'tokens', origin: 'server' },
  ],
];

/** The figures of the run as a whole; what the result does not report is absent. */
const totals = (fields: Fields): MeasureResult[] => statedScalars((name) => fields.amount(name), SCALARS);

/** The latencies that the summary of a result reports, under the tool's definitions. `n`: ok requests. */
function summaryLatencies(fields: Fields, backend: VllmBackend, n: number | null, notes: ImportNotes): MeasureResult[] {
  const unit = benchUnit(fields);
  if (unit === 'seconds') notes.add('latencies have no unit in their names and are read as seconds');
  if (unit === null) {
    notes.add('latencies left out: their names have no unit, and no time per token shows it');
    return [];
  }
  return METRICS.flatMap((metric) => {
    const reported = benchStatistics(fields, metric, unit);
    // How many requests had a second token, and how many gaps there were, the summary does not report.
    const count = metric === 'ttft' || metric === 'e2el' ? n : null;
    const identity = identityOf(metric, backend.countsTokenChunks ? 'byTokenChunk' : 'byAnyChunk');
    return reported === null ? [] : [statedDistribution(identity, asStated(reported, count))];
  });
}

/** The latencies of the ok requests, exact, from what the file lists. */
function listedLatencies({ byContent }: ListedSurvey, backend: VllmBackend): MeasureResult[] {
  return METRICS.flatMap((metric) => {
    const identity = identityOf(metric, backend.countsTokenChunks ? 'byContent' : 'byAnyChunk');
    return (
      (metric === 'itl' ? byContent.itl.stated(identity) : exactStated(identity, byContent[metric].toArray())) ?? []
    );
  });
}

/** Compares what the summary reports with what the file lists, both as the tool has them. */
function checkSummary(fields: Fields, { byChunk, withLatency, ok }: ListedSurvey, notes: ImportNotes): void {
  // Older versions took the end of the response for its last chunk, which the lists do not hold.
  const checked = withLatency === ok ? METRICS : (['ttft', 'itl'] as const);
  for (const metric of checked) {
    const reported = benchStatistics(fields, metric);
    if (reported === null) continue;
    if (metric === 'itl') byChunk.itl.check(metric, reported, notes);
    else checkStatistics(metric, reported, byChunk[metric].toArray(), NUMPY_LINEAR, notes);
  }
}

function identityOf(metric: Metric, by: 'byContent' | 'byTokenChunk' | 'byAnyChunk'): StatedIdentity {
  return { measure: LATENCIES[metric].measure, definition: LATENCIES[metric][by] };
}

const SCHEDULE_DELAY: StatedIdentity = { measure: 'schedule_delay', definition: 'due_to_sent', clock: 'due' };
const FROM_DUE: StatedIdentity = { measure: 'request_latency', definition: 'due_to_last_chunk', clock: 'due' };
const LATENCY: StatedIdentity = { measure: 'request_latency', definition: 'sent_to_last_chunk' };

/**
 * The wait for a free slot. `latencies` and `queue_times` stay in a result without detail; without the errors they can only
 * be used when no request failed.
 */
function queueMeasures(
  fields: Fields,
  lists: RequestLists,
  counts: { readonly ok: number | null; readonly error: number | null },
  notes: ImportNotes,
): MeasureResult[] {
  const stated = (
    [
      ['client_queue_time', SCHEDULE_DELAY],
      ['e2el_including_client_queue', FROM_DUE],
    ] as const
  ).flatMap(([metric, identity]) => {
    const reported = benchStatistics(fields, metric);
    return reported === null ? [] : [statedDistribution(identity, asStated(reported, counts.ok))];
  });
  const usable = !lists.has('ttfts') && counts.error === 0;
  const waits = usable ? amounts(lists, 'queue_times', notes) : null;
  const latencies = usable ? amounts(lists, 'latencies', notes) : null;
  const fromDue =
    waits && latencies?.length === waits.length ? latencies.map((each, i) => each + (waits[i] ?? NaN)) : null;
  fields.ignore('queue_times', 'latencies');
  const computed = (
    [
      [SCHEDULE_DELAY, waits],
      [LATENCY, latencies],
      [FROM_DUE, fromDue],
    ] as const
  ).flatMap(([identity, values]) => (values && exactStated(identity, values)) ?? []);
  const replaced = new Set(computed.map(({ measure, clock }) => `${measure} ${clock}`));
  return [...computed, ...stated.filter(({ measure, clock }) => !replaced.has(`${measure} ${clock}`))];
}

function amounts(lists: RequestLists, name: 'queue_times' | 'latencies', notes: ImportNotes): Float64Array | null {
  const values = lists.numbers(name);
  if (values === null || !values.some(Number.isNaN)) return values;
  notes.add(`${name} contains invalid values: it is ignored`);
  return null;
}

/** What is known, and of no use here: counts of chunks as tokens, peaks within a second, the tool's own probes, audio. */
const PASSED_OVER = [
  'endpoint_type',
  'tokenizer_id',
  'best_of',
  'use_beam_search',
  'rtfx',
  'max_output_tokens_per_s',
  'max_concurrent_requests',
  'rps_change_events',
  'total_input_sequences',
  'input_sequence_throughput',
  'probe_completed',
  'probe_failed',
  'probe_median_e2el_ms',
  'probe_p99_e2el_ms',
  'probe_max_e2el_ms',
  'run_number',
  'ramp_up_start_rps',
  'ramp_up_end_rps',
  'spec_decode_num_drafts',
  'spec_decode_draft_tokens',
  'spec_decode_accepted_tokens',
  'spec_decode_per_position_acceptance_rates',
] as const;

/** Known, whether it was of use or not. */
const LATENCY_FIELD = /^(mean|median|std|p\d+(\.\d+)?)_(e2el|ttft|tpot|itl)_ms$/;
const UNIT_LESS_LATENCY = /^(mean|median|std|p\d+(\.\d+)?)_(e2el|ttft|tpot|itl|intvty)$/;

/** One result of `vllm bench serve`, or of `benchmark_serving.py` before it. */
export async function benchRun(
  { value, lists, part, sha256, notes }: BenchResult,
  { timeZone }: Pick<ImportContext, 'timeZone'>,
): Promise<ImportedRun> {
  const fields = new Fields(value, notes);
  const backend = backendOf(fields.text('backend') ?? fields.text('endpoint_type'));
  const contentTimes = backend.countsTokenChunks ? (request: ListedRequest) => contentTimes_s(request, backend) : null;
  const survey = lists.areUsable(fields, notes) ? await surveyOf(lists, contentTimes, notes) : null;
  const ok = okRequests(fields.count('completed'), survey, notes);
  const error = fields.count('failed') ?? (survey === null ? null : survey.requests - survey.ok);
  const duration = fields.amount('duration');
  const records = survey?.isTimed === true ? benchRecords(lists, backend, survey.earliest_s) : null;
  const run = reportedRun({
    part,
    sha256,
    tool: 'vllm',
    format: 'vllm-bench-serve',
    scenario: fields.text('label'),
    key: keyOf(fields, backend),
    start: startOf(fields, duration, timeZone, notes),
    records,
    stated: {
      window_seconds: duration,
      requests: { ok, error },
      errors: survey?.errors ?? {},
      measures: [
        // First, because what it computes from values goes before what the summary reports.
        ...queueMeasures(fields, lists, { ok, error }, notes),
        ...latencies(fields, backend, survey, ok, records !== null, notes),
        ...totals(fields),
        ...totalLengths(fields, ok, survey, notes),
      ],
    },
    notes,
  });
  noteTokens(survey, backend, notes);
  const latency = benchUnit(fields) === 'ms' ? LATENCY_FIELD : UNIT_LESS_LATENCY;
  fields.ignore(...PASSED_OVER, ...fields.names.filter((name) => latency.test(name)));
  fields.noteUnread();
  return run;
}

function latencies(
  fields: Fields,
  backend: VllmBackend,
  survey: ListedSurvey | null,
  ok: number | null,
  hasRecords: boolean,
  notes: ImportNotes,
): MeasureResult[] {
  if (hasNoLatencies(ok, notes)) return [];
  if (survey === null || isSample(survey, ok)) return summaryLatencies(fields, backend, ok, notes);
  checkSummary(fields, survey, notes);
  if (!hasRecords) return [...listedLatencies(survey, backend), ...lengthMeasures(survey)];
  return backend.countsTokenChunks ? [] : listedLatencies(survey, backend);
}

function keyOf(fields: Fields, backend: VllmBackend): KnownKey {
  const load = fields.has('ramp_up_strategy') ? undefined : benchLoad(fields, fields.amount('burstiness'));
  fields.ignore('request_rate', 'burstiness', 'max_concurrency', 'ramp_up_strategy');
  return {
    ...known({ endpoint_type: backend.endpoint_type, model: fields.text('model_id'), load }),
    stop: { request_count: fields.count('num_prompts'), benchmark_duration_seconds: null },
    streaming: true,
  };
}

/** `date` is the local time at which the result was saved, without a zone: the run began its duration earlier. */
function startOf(fields: Fields, duration: number | null, timeZone: string | null, notes: ImportNotes): string | null {
  const date = fields.text('date');
  if (date === null || duration === null) return null;
  const saved = statedTime(date, timeZone, notes);
  if (saved === null) return null;
  notes.add('the start is the time of saving less the duration, to the second');
  return wallInstant(Date.parse(saved) - duration * 1000);
}

function noteTokens(survey: ListedSurvey | null, backend: VllmBackend, notes: ImportNotes): void {
  notes.add('output tokens are reported by the server or counted by a tokenizer: the file does not state which');
  if (!backend.countsTokenChunks) {
    notes.add(
      'the tool counts the first chunk as the first token, even without content: its latencies keep that definition',
    );
  }
  if (survey === null) return;
  const { closingChunks: closing, requests, ok } = survey;
  if (closing > 0) {
    notes.add(
      `${things(closing, 'answers')} ended with a chunk without a token, which the tool counts as a token: it is left out`,
    );
  }
  const failed = requests - ok;
  if (failed > 0)
    notes.add(`the end of ${things(failed, 'failed requests')} is unknown: the time of the last chunk is used`);
}

/**
 * The records of requests that report when they were sent, read from the file; their zero is `zero_s`, when the first of them
 * was due. What is left out has been noted before.
 */
async function* benchRecords(lists: RequestLists, backend: VllmBackend, zero_s: number): AsyncGenerator<RequestRecord> {
  for await (const requests of lists.requests(new ImportNotes())) {
    for (const request of requests) {
      if (request.sent_s !== null) yield recordOf(request, request.sent_s, backend, zero_s);
    }
  }
}

function recordOf(request: ListedRequest, sent_s: number, backend: VllmBackend, zero_s: number): RequestRecord {
  const { index, queued_s, failure } = request;
  const sent_ns = nanoseconds(sent_s - zero_s);
  const content = contentTimes_s(request, backend);
  const offsets = (content ?? []).map(nanoseconds);
  const first = offsets[0];
  const last = offsets.at(-1);
  const end_s = Math.max(request.latency_s ?? 0, chunkTimes_s(request).at(-1) ?? 0);
  return {
    ...UNREPORTED,
    index,
    due_ns: queued_s === null ? null : nanoseconds(sent_s - queued_s - zero_s),
    sent_ns,
    first_content_ns: first === undefined ? null : sent_ns + first,
    last_content_ns: last === undefined ? null : sent_ns + last,
    end_ns: sent_ns + nanoseconds(end_s),
    ...howEnded(failure),
    input_tokens: request.input_tokens,
    output_tokens: request.output_tokens,
    chunk_offsets_ns: offsets,
  };
}

const nanoseconds = (seconds: number): number => Math.round(seconds * 1e9);
