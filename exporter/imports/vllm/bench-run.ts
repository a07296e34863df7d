import { things } from '../../../core/text/things.ts';
import type { MeasureResult, ResultFile } from '../../../core/run/result.ts';
import { benchUnit } from '../serving-bench/bench-statistics.ts';
import { hasNoLatencies, isSample, okRequests } from '../serving-bench/bench-counts.ts';
import { benchLoad } from '../serving-bench/bench-load.ts';
import type { BenchResult } from '../serving-bench/bench-results.ts';
import { Fields } from '../reading/fields.ts';
import type { ImportContext, ImportedRun, KnownKey } from '../importer.ts';
import type { ImportNotes } from '../import-notes.ts';
import { lengthMeasures, totalLengths } from '../serving-bench/length-measures.ts';
import { surveyOf } from '../serving-bench/listed-survey.ts';
import type { ListedSurvey } from '../serving-bench/listed-survey.ts';
import type { ListedRequest } from '../serving-bench/request-lists.ts';
import { statedTime, wallInstant } from '../reading/wall-time.ts';
import { backendOf } from './backend.ts';
import type { VllmBackend } from './backend.ts';
import { checkSummary, listedLatencies, summaryLatencies } from './bench-measures.ts';
import { benchRecords } from './bench-records.ts';
import { contentTimes_s } from './content-times.ts';
import { queueMeasures } from './queue-measures.ts';
import { totals } from './totals.ts';

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
  const counts = requestCounts(fields, survey, notes);
  const duration = fields.amount('duration');
  const records = survey?.isTimed === true ? benchRecords(lists, backend, survey.earliest_s) : null;
  const run: ImportedRun = {
    part,
    sha256,
    tool: { name: 'vllm', version: null },
    format: { name: 'vllm-bench-serve', schema_version: null },
    scenario: fields.text('label'),
    target: { origin: null, system: null, system_version: null },
    key: keyOf(fields, backend),
    status: 'completed',
    failure: null,
    start: startOf(fields, duration, timeZone, notes),
    records,
    stated: {
      window_seconds: duration,
      requests: counts,
      errors: survey?.errors ?? {},
      measures: [
        // First, because what it computes from values goes before what the summary reports.
        ...queueMeasures(fields, lists, counts, notes),
        ...latencies(fields, backend, survey, counts.ok, records !== null, notes),
        ...totals(fields),
        ...totalLengths(fields, counts.ok, survey, notes),
      ],
    },
    servers: null,
    notes,
  };
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

function requestCounts(
  fields: Fields,
  survey: ListedSurvey | null,
  notes: ImportNotes,
): Record<keyof ResultFile['requests'], number | null> {
  const ok = okRequests(fields.count('completed'), survey, notes);
  const listed = survey === null ? null : survey.requests - survey.ok;
  return { ok, error: fields.count('failed') ?? listed, timeout: null, cancelled: null };
}

function keyOf(fields: Fields, backend: VllmBackend): KnownKey {
  const load = fields.has('ramp_up_strategy') ? undefined : benchLoad(fields, fields.amount('burstiness'));
  fields.ignore('request_rate', 'burstiness', 'max_concurrency');
  fields.ignore('ramp_up_strategy', 'ramp_up_start_rps', 'ramp_up_end_rps');
  const model = fields.text('model_id');
  return {
    ...(backend.endpoint_type !== null && { endpoint_type: backend.endpoint_type }),
    ...(model !== null && { model }),
    ...(load !== undefined && { load }),
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
