import type { MeasureResult } from '../../../core/run/result.ts';
import { hasNoLatencies, isSample, okRequests } from '../serving-bench/bench-counts.ts';
import { benchLoad } from '../serving-bench/bench-load.ts';
import type { BenchResult } from '../serving-bench/bench-results.ts';
import { Fields } from '../reading/fields.ts';
import type { ImportedRun, KnownKey } from '../importer.ts';
import type { ImportNotes } from '../import-notes.ts';
import { totalLengths } from '../serving-bench/length-measures.ts';
import { surveyOf } from '../serving-bench/listed-survey.ts';
import type { ListedSurvey } from '../serving-bench/listed-survey.ts';
import { backendOf } from './backend.ts';
import type { SglangBackend } from './backend.ts';
import { listedLatencies, summaryLatencies } from './bench-measures.ts';
import { totals, withoutFalseTokens } from './totals.ts';

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
const LATENCY = /^(mean|median|std|max|p\d+)_(e2e_latency|ttft|tpot|itl)(_ms)?$/;

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
  const run: ImportedRun = {
    part,
    sha256,
    tool: { name: 'sglang', version: null },
    format: { name: 'sglang-bench-serving', schema_version: null },
    scenario: fields.text('tag'),
    target: {
      origin: null,
      system: server === null ? null : 'sglang',
      system_version: server?.text('version') ?? null,
    },
    key,
    status: 'completed',
    failure: null,
    start: null,
    records: null,
    stated: {
      window_seconds: fields.amount('duration') ?? fields.amount('benchmark_duration'),
      requests: {
        ok,
        error: survey === null ? null : survey.requests - survey.ok,
        timeout: null,
        cancelled: null,
      },
      errors: survey?.errors ?? {},
      measures: withoutFalseTokens(
        fields,
        { ok, survey },
        [
          ...latencies(fields, backend, survey, completed, notes),
          ...totals(fields),
          ...totalLengths(fields, ok, survey, notes),
        ],
        notes,
      ),
    },
    servers: null,
    notes,
  };
  fields.ignore(...PASSED_OVER, ...fields.names.filter((name) => LATENCY.test(name)));
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
  const model = server?.text('served_model_name') ?? server?.text('model_path') ?? null;
  return {
    ...(backend.endpoint_type !== null && { endpoint_type: backend.endpoint_type }),
    ...(model !== null && { model }),
    ...(load !== undefined && { load }),
    ...(survey !== null && {
      stop: { request_count: survey.requests, benchmark_duration_seconds: null },
      streaming: survey.isStreamed,
    }),
  };
}
