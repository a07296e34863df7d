import { outcomeOf } from '../../../core/measures/error-reasons.ts';
import type { RequestRecord } from '../../../core/run/record.ts';
import type { MeasureResult } from '../../../core/run/result.ts';
import { things } from '../../../core/text/things.ts';
import { benchLoad, benchUnit, hasNoLatencies, isSample, lengthMeasures } from '../serving-bench/bench-fields.ts';
import { okRequests, totalLengths } from '../serving-bench/bench-fields.ts';
import type { BenchResult } from '../serving-bench/bench-results.ts';
import { Fields } from '../reading/fields.ts';
import { known, reportedRun, UNREPORTED } from '../importer.ts';
import type { ImportContext, ImportedRun, KnownKey } from '../importer.ts';
import { ImportNotes } from '../import-notes.ts';
import { surveyOf } from '../serving-bench/listed-survey.ts';
import type { ListedSurvey } from '../serving-bench/listed-survey.ts';
import { chunkTimes_s } from '../serving-bench/request-lists.ts';
import type { ListedRequest, RequestLists } from '../serving-bench/request-lists.ts';
import { statedTime, wallInstant } from '../reading/wall-time.ts';
import { backendOf, contentTimes_s } from './backend.ts';
import type { VllmBackend } from './backend.ts';
import { checkSummary, listedLatencies, queueMeasures, summaryLatencies, totals } from './bench-measures.ts';

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
const LATENCY = /^(mean|median|std|p\d+(\.\d+)?)_(e2el|ttft|tpot|itl)_ms$/;
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
  const latency = benchUnit(fields) === 'ms' ? LATENCY : UNIT_LESS_LATENCY;
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
    outcome: outcomeOf(failure?.reason ?? null),
    reason: failure?.reason ?? null,
    http_status: failure === null ? 200 : failure.http_status,
    input_tokens: request.input_tokens,
    output_tokens: request.output_tokens,
    chunk_offsets_ns: offsets,
  };
}

const nanoseconds = (seconds: number): number => Math.round(seconds * 1e9);
